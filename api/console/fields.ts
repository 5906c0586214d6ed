import { Type } from "typebox";
import { type Refused, refused } from "#api/http/errors.ts";
import { partnerBounds } from "#src/keys/partners.ts";
import { isNotDone, type NotDone } from "#src/operators/act.ts";

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

/** A whole number of these bounds. */
export const within = ([minimum, maximum]: readonly [number, number]) =>
  Type.Integer({ minimum, maximum });

export const rpm = within(partnerBounds.rpm);
export const daily = within(partnerBounds.daily);
/** A word to the partner (docs/contract.md 2.6). */
export const comment = line(0, 500);
/** ms since the epoch, of the years 1970 to 9999. */
export const moment = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });

const idMax = 2_147_483_647;

/** The id of a row in a path; 0, which no row has, when it cannot be one. */
export const rowId = (text: string | undefined, max = idMax): number =>
  /^[1-9]\d{0,14}$/.test(text ?? "") && Number(text) <= max ? Number(text) : 0;

/** The id of a station in a path; "", which no station has, when it cannot be one. */
export const stationIdOf = (text: string | undefined): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text ?? "") ? text! : "";

/** A refusal of one field of a body. */
const badField = (name: string, msg: string): Refused =>
  refused("validation-failed", [{ loc: ["body", name], msg, type: "value_error" }]);

/** There is nothing of that number. */
export const unknown = (what: string): Refused => refused("not-found", `There is no such ${what}.`);

/** What an operator's act has given; throws the refusal that says why it was not done. */
export function doneOrThrow<T extends object>(value: T | NotDone): T {
  if (!isNotDone(value)) return value;
  if (value.notDone === "unknown") throw unknown(value.what);
  if (value.notDone === "invalid") throw badField(value.field, value.why);
  if (value.notDone === "wide")
    throw badField("since", `Give it, or a partner, key, reporter or station: ${value.why}`);
  if (value.notDone === "changed") {
    const [first = "", ...others] = `${value.what} ${value.id} ${value.why}.`;
    throw refused("already-done", first.toUpperCase() + others.join(""));
  }
  throw refused("already-done", `This ${value.what.split(" ").at(-1)} is ${value.state} already.`);
}
