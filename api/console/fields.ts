import { Type } from "typebox";
import { refuse, type Refusal } from "#src/contract/refusals.ts";

// What several calls of the console take.

/** One line for people: nothing that steers a terminal or cannot be seen. */
export const line = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: "^\\P{C}*$",
    wanted: "hold no control or invisible characters",
  });

/** An id or a name that makes ids. */
export const idText = (maxLength: number) =>
  Type.String({
    pattern: `^[A-Za-z0-9_-]{1,${maxLength}}$`,
    wanted: `be of 1 to ${maxLength} letters a-z, digits, - and _`,
  });

export const rpm = Type.Integer({ minimum: 1, maximum: 100_000 });
export const daily = Type.Integer({ minimum: 1, maximum: 100_000_000 });
/** A word to the partner (partner-api.md 2.6). */
export const comment = line(0, 500);
/** ms since the epoch, of the years 1970 to 9999. */
export const moment = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });

/** The number in a path; null when it cannot be one of a row. */
export const rowId = (text: string | undefined): number | null =>
  /^[1-9]\d{0,14}$/.test(text ?? "") ? Number(text) : null;

/** A refusal of one field of a body. */
export const badField = (name: string, msg: string): Refusal =>
  refuse("validation-failed", [{ loc: ["body", name], msg, type: "value_error" }]);

/** There is nothing of that number. */
export const unknown = (what: string): Refusal => refuse("not-found", `There is no such ${what}.`);
