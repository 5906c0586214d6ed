import { type TSchema, Type } from "typebox";

// Fields of acts' input: options of the command line (cli/act-verb.ts), and bodies of the console.

/** One line of readable text, without control or invisible characters. */
export const line = (minLength: number, maxLength: number) =>
  Type.String({
    minLength,
    maxLength,
    pattern: "^\\P{C}*$",
    wanted: "hold no control or invisible characters",
  });

/** An id, or a name that becomes part of ids. */
export const idText = (maxLength: number) =>
  Type.String({
    pattern: `^[A-Za-z0-9_-]{1,${maxLength}}$`,
    wanted: `be of 1 to ${maxLength} letters a-z, digits, - and _`,
  });

/** A whole number of these bounds. */
export const within = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum });

/** Values that the caller has seen: an act is refused if one of them has changed since. */
export const seenValues = Type.Optional(Type.Object({}, { additionalProperties: true }));

/** The id of a row; of a mark or a reporter. */
export const rowId = within(1, 2_147_483_647);
export const longId = within(1, 999_999_999_999_999);
export const stationId = idText(64);
/** The hash of a viewers' network, or its first digits, as an alarm names it. */
export const networkHash = Type.String({
  pattern: "^[0-9a-f]{8,64}$",
  wanted: "be 8 to 64 hex digits, 0-9 and a-f",
});

/** A time in ms since the epoch, up to the year 9999. The command line takes a UTC time or a day. */
export const moment = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999, isTime: true });

export const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const oneOf = <const Word extends string>(words: readonly Word[]) =>
  Type.Unsafe<Word>(Type.Union(words.map((word) => Type.Literal(word))));

/** A comment for the partner (docs/contract.md 2.6). */
export const comment = line(0, 500);
