/** How much is tried: `short` by `npm test`, so much that a broken rule shows; `long` by `npm run test:long`. */
export const sized = (short: number, long: number): number =>
  process.env["TEST_LONG"] === "1" ? long : short;
