import fc, { type Arbitrary } from "fast-check";

interface Edit {
  /** Where, as a part of the whole. */
  at: number;
  remove: number;
  insert: Uint8Array;
}

const edit: Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.constantFrom(0, 0, 1, 1, 2, 20),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 3 }),
    fc
      .constantFrom("\r\n", "\r\n\r\n", "\n", "\0", ":", " ", "%", "?", "\u0430")
      .map((text) => Buffer.from(text)),
  ),
});

/** Changes to the bytes of a request that no client would make. */
export const scrambles: Arbitrary<(bytes: Buffer) => Buffer> = fc
  .array(edit, { minLength: 1, maxLength: 4 })
  .map(
    (edits) => (bytes) =>
      edits.reduce((text, { at, remove, insert }) => {
        const place = Math.floor(at * text.length);
        return Buffer.concat([text.subarray(0, place), insert, text.subarray(place + remove)]);
      }, bytes),
  );
