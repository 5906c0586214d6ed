import type { Fault, Refusal } from "#src/contract/refusals.ts";

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
