import { formatTime } from "#src/domain/time.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { presented } from "#src/operators/presented.ts";

/** The surroundings of a command: those of its process, or imitations in tests. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

export interface Output extends Surroundings {
  json: boolean;
  actor: string;
  /** The result of a command: with --json the value, else its text by `people`. Called once. */
  result<T>(value: T, people: (value: T) => string): void;
  /** A message beside the result; never on stdout. */
  note(line: string): void;
}

/** The output of a command. With --json exactly one JSON value goes to stdout. */
export const createOutput = (
  json: boolean,
  actor: string,
  surroundings: Surroundings = process,
): Output => {
  const { env, stdin, stdout, stderr } = surroundings;
  return {
    ...{ env, stdin, stdout, stderr, json, actor },
    result: (value, people) =>
      void stdout.write(`${json ? JSON.stringify(value, null, 2) : people(value)}\n`),
    note: (line) => void stderr.write(`${line}\n`),
  };
};

export const time = (date: Date | null): string | null =>
  date === null ? null : formatTime(date.getTime());

/** `1 mark`, `2 marks`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A row for people and JSON: its times as texts, `created_at` as `created`. */
export const readable = <Row extends object>(row: Row) =>
  presented(row, (at) => formatTime(at.getTime()));

/** A row for a terminal, which a stranger's text must not control. */
export const harmless = <Row extends { comment: string | null }>(row: Row): Row => ({
  ...row,
  comment: cleanText(row.comment, 200),
});

/** Rows under headings, columns as wide as they need be; the headings are `columns`, or the first row's names. */
export function table<Row extends object>(
  records: readonly Row[],
  none: string,
  columns?: readonly (keyof Row & string)[],
): string {
  const [first] = records;
  if (first === undefined) return none;
  const names = columns ?? (Object.keys(first) as (keyof Row & string)[]);
  const lines = [names, ...records.map((record) => names.map((name) => cell(record[name])))];
  const widths = names.map((_, column) =>
    Math.max(...lines.map((line) => [...(line[column] ?? "")].length)),
  );
  const pad = (text: string, width: number): string => text + " ".repeat(width - [...text].length);
  return lines
    .map((line) =>
      line
        .map((text, column) => pad(text, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** One record, a line for each field. */
export function card(record: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record)
    .map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`.trimEnd())
    .join("\n");
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(cell).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
