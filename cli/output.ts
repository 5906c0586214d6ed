import { formatTime } from "#src/domain/time.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { presented } from "#src/operators/presented.ts";
import type { Fault, Refusal } from "#src/contract/refusals.ts";

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

/**
 * Ends a command with one sentence for the operator, nothing changed. Exit code 2 for wrong input, 1 for an act that is
 * not possible now. Thrown, because commander's option parsers have no other way to refuse.
 */
export class ExitError extends Error {
  readonly exitCode: 1 | 2;
  /** The field of an act's input that it concerns: `sentenceOf` (operate.ts) names its option as it is typed. */
  readonly field: string | null;

  constructor(sentence: string, exitCode: 1 | 2 = 2, field: string | null = null) {
    super(sentence);
    this.exitCode = exitCode;
    this.field = field;
  }
}

/** For an unknown id; the sentence names the command that lists ids. */
export const unknown = (what: string, id: number | string, list: string): ExitError =>
  new ExitError(`there is no ${what} ${id}: \`operator ${list}\` shows the existing ones`, 1);

/** The command that lists the ids of each kind. */
const lists: Readonly<Record<string, string>> = {
  account: "account list",
  partner: "partner list",
  key: "key list",
  "limit request": "limit-request list",
  alarm: "alarm list",
  network: "alarm list",
  incident: "incident list",
  feed: "feed list",
  suggestion: "suggestion list",
  alias: "brand aliases",
  "waiting deletion": "retention show",
  webhook: "webhook list",
  mark: "review list",
  reporter: "review list",
  "failed mark": "marks failed",
  rollback: "marks rollback list",
  decision: "review decisions list",
};

/** The reason why an operator's act was refused, with a remedy. */
export function exitErrorOf({ detail, about }: Refusal): ExitError {
  if (about === undefined) {
    const [fault] = detail as Fault[];
    return new ExitError(fault!.msg, 2, String(fault!.loc.at(-1)));
  }
  const { what, id = "", state, why } = about;
  if (what === "selection")
    return new ExitError(`add --since (or --partner, --key, --reporter, --station): ${why}`);
  if (why !== undefined) return new ExitError(`${what} ${id} ${why}`, 1);
  if (state === undefined) {
    const list = lists[what];
    return list === undefined
      ? new ExitError(`there is no ${what} ${id}`, 1)
      : unknown(what, id, list);
  }
  const sentences: Readonly<Record<string, string>> = {
    account: `an account ${id} already exists`,
    key: `key ${id} is ${state} permanently: \`operator key issue\` creates a new one`,
    "limit request": `limit request ${id} is already ${state}: \`operator partner update\` changes limits at any time`,
    station: `station ${id} is ${state} already: nothing was changed`,
    mark: `mark ${id} is not held: ${state === "none" ? "it was counted without a review" : `it is ${state}`}; \`operator review list\` shows the held marks`,
  };
  return new ExitError(sentences[what] ?? `${what} ${id} is ${state} already`, 1);
}
