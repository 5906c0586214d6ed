/**
 * Ends a command with one sentence for the operator, nothing changed. Exit code 2 for what was typed wrong,
 * 1 for what is not possible now. Thrown, because commander's option parsers have no other way to refuse.
 */
export class Refusal extends Error {
  readonly exitCode: 1 | 2;

  constructor(sentence: string, exitCode: 1 | 2 = 2) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** There is nothing of that id; the sentence says where ids are listed. */
export const unknown = (what: string, id: number | string, list: string): Refusal =>
  new Refusal(`there is no ${what} ${id}: \`operator ${list}\` shows the existing ones`, 1);
