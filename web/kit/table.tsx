import { Button } from "#web/kit/button.tsx";
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { number } from "#web/kit/numbers.ts";
import { say } from "#web/kit/say.ts";
import { Moment } from "#web/kit/time.tsx";

interface Named {
  name: string;
  /** Aligned right, in figures of one width. */
  numeric?: boolean;
}

interface OfRow<Row> extends Named {
  of?: undefined;
  cell: (row: Row) => ComponentChildren;
  /** The value to sort the column by; without it the column cannot be sorted. */
  by?: (row: Row) => string | number;
}

/** A column of one field, sorted by it. */
type OfField<Row> = {
  [Field in keyof Row & string]: Named & {
    of: Field;
    /** By default the field as it is. */
    cell?: (value: Row[Field]) => ComponentChildren;
  };
}[keyof Row & string];

export type Column<Row> = OfRow<Row> | OfField<Row>;

const ofRow = <Row,>(column: Column<Row>): OfRow<Row> => {
  if (column.of === undefined) return column as OfRow<Row>;
  const { of, cell, ...named } = column as Named & {
    of: keyof Row;
    cell?: (value: unknown) => ComponentChildren;
  };
  return {
    ...named,
    by: (row) => (row[of] ?? 0) as string | number,
    cell: (row) => (cell === undefined ? (row[of] as string) : cell(row[of])),
  };
};

/** A column of counts, sorted by them. */
export const counted = <Field extends string>(
  name: string,
  field: Field,
): OfRow<Record<Field, number>> => ({
  name,
  cell: ({ [field]: count }) => number(count),
  by: ({ [field]: count }) => count,
  numeric: true,
});

/** A column of times in ms, sorted by them. */
export const timed = <Field extends string>(
  name: string,
  field: Field,
): OfRow<Record<Field, number | null>> => ({
  name,
  cell: ({ [field]: at }) => <Moment at={at} />,
  by: ({ [field]: at }) => at ?? 0,
});

interface Props<Row> {
  /** The table's content in words, for screen readers. */
  caption: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  id: (row: Row) => string | number;
  /** Shown in place of an empty table. */
  empty: ComponentChildren;
  perPage?: number;
}

interface Sorting {
  column: number;
  down: boolean;
}

/**
 * A table that pages and sorts rows in the browser. A narrow window shows each row as a card: the roles are spelled out
 * because another `display` takes them away.
 */
export function Table<Row>({ caption, rows, columns: given, id, empty, perPage = 20 }: Props<Row>) {
  const columns = given.map((column) => ofRow(column));
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [wanted, setPage] = useState(0);
  if (rows.length === 0) return <div class="empty">{empty}</div>;
  const sorted = sort(rows, columns, sorting);
  const pages = Math.ceil(sorted.length / perPage);
  const page = Math.min(wanted, pages - 1);
  const shown = sorted.slice(page * perPage, (page + 1) * perPage);
  const turn = (column: number): void => {
    const down = sorting?.column === column ? !sorting.down : columns[column]?.numeric === true;
    setSorting({ column, down });
    setPage(0);
  };
  return (
    <div class="table">
      <table role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column, n) => (
              <Heading
                key={column.name}
                column={column}
                down={sorting?.column === n ? sorting.down : null}
                turn={() => turn(n)}
              />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => (
            <tr role="row" key={id(row)}>
              {columns.map((column) => (
                <td
                  role="cell"
                  key={column.name}
                  data-name={column.name}
                  class={column.numeric === true ? "numeric" : ""}
                >
                  <div>{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {pages > 1 && (
        <nav class="pager" aria-label={say("Pages: {caption}", { caption })}>
          <Button words={say("Previous")} disabled={page === 0} onClick={() => setPage(page - 1)} />
          <span role="status">
            {say("{from}–{to} of {all}", {
              from: String(page * perPage + 1),
              to: String(page * perPage + shown.length),
              all: String(sorted.length),
            })}
          </span>
          <Button disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
            {say("Next")}
          </Button>
        </nav>
      )}
    </div>
  );
}

function Heading<Row>({
  column,
  down,
  turn,
}: {
  column: OfRow<Row>;
  down: boolean | null;
  turn: () => void;
}) {
  const { name, by, numeric } = column;
  const direction = down === null ? "none" : down ? "descending" : "ascending";
  const style = numeric === true ? "numeric" : "";
  if (by === undefined)
    return (
      <th role="columnheader" scope="col" class={style}>
        {name}
      </th>
    );
  return (
    <th role="columnheader" scope="col" class={style} aria-sort={direction}>
      <Button class="sort" onClick={turn}>
        {name}
        <span aria-hidden="true">{down === null ? " ↕" : down ? " ↓" : " ↑"}</span>
      </Button>
    </th>
  );
}

function sort<Row>(
  rows: readonly Row[],
  columns: readonly OfRow<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const by = sorting === null ? undefined : columns[sorting.column]?.by;
  if (by === undefined) return rows;
  const sign = sorting?.down === true ? -1 : 1;
  return rows
    .map((row) => ({ row, value: by(row) }))
    .sort((a, b) => sign * compare(a.value, b.value))
    .map(({ row }) => row);
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const compare = (a: string | number, b: string | number): number =>
  typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
