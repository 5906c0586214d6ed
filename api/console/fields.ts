import { Type } from "typebox";
import { partnerBounds } from "#src/keys/partners.ts";

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
