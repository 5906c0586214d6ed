type Presented<Row, Time> = {
  [Name in keyof Row as Name extends `${infer Short}_at` ? Short : Name]: Date extends Row[Name]
    ? Time | Exclude<Row[Name], Date>
    : Row[Name];
};

/** A row for people or for a page: each time through `format`, and `created_at` renamed to `created`. */
export const presented = <Row extends object, Time>(
  row: Row,
  format: (time: Date) => Time,
): Presented<Row, Time> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]: [string, unknown]) => [
      name.replace(/_at$/, ""),
      value instanceof Date ? format(value) : value,
    ]),
  ) as Presented<Row, Time>;

export const inMs = (time: Date): number => time.getTime();
