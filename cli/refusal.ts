import type { NotDone } from "#src/operators/act.ts";

/**
 * Ends a command with one sentence for the operator, nothing changed. Exit code 2 for what was typed wrong,
 * 1 for what is not possible now. Thrown, because commander's option parsers have no other way to refuse.
 */
export class Refusal extends Error {
  readonly exitCode: 1 | 2;
  /** Which field of an act's input it is about: `sentenceOf` (operate.ts) names its option as it is typed. */
  readonly field: string | null;

  constructor(sentence: string, exitCode: 1 | 2 = 2, field: string | null = null) {
    super(sentence);
    this.exitCode = exitCode;
    this.field = field;
  }
}

/** There is nothing of that id; the sentence says where ids are listed. */
export const unknown = (what: string, id: number | string, list: string): Refusal =>
  new Refusal(`there is no ${what} ${id}: \`operator ${list}\` shows the existing ones`, 1);

/** Where the ids of each thing are listed. */
const lists: Readonly<Record<string, string>> = {
  account: "account list",
  partner: "partner list",
  key: "key list",
  "limit request": "limit-request list",
  alarm: "alarm list",
  webhook: "webhook list",
  mark: "review list",
  reporter: "review list",
  "failed mark": "marks failed",
  rollback: "marks rollback list",
  decision: "review decisions list",
};

/** Why an operator's act was not done, and what helps. */
export function refusalOf(why: NotDone): Refusal {
  if (why.notDone === "invalid") return new Refusal(why.why, 2, why.field);
  if (why.notDone === "unknown") {
    const list = lists[why.what];
    if (list === undefined) return new Refusal(`there is no ${why.what} ${why.id}`, 1);
    return unknown(why.what, why.id, list);
  }
  if (why.notDone === "wide")
    return new Refusal(`add --since (or --partner, --key, --reporter, --station): ${why.why}`);
  if (why.notDone === "changed") return new Refusal(`${why.what} ${why.id} ${why.why}`, 1);
  const { what, id, state } = why;
  const sentences: Readonly<Record<string, string>> = {
    account: `an account ${id} already exists`,
    key: `key ${id} is ${state} permanently: \`operator key issue\` creates a new one`,
    "limit request": `limit request ${id} is already ${state}: \`operator partner update\` changes limits at any time`,
    station: `station ${id} is ${state} already: nothing was changed`,
    mark: `mark ${id} is not held: ${state === "none" ? "it was counted without a review" : `it is ${state}`}; \`operator review list\` shows the held marks`,
  };
  return new Refusal(sentences[what] ?? `${what} ${id} is ${state} already`, 1);
}
