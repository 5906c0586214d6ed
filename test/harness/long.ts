const long = process.env["TEST_LONG"] === "1";

/** How much is tried: `less` by `npm test`, so much that a broken rule shows; `all` by `npm run test:long`. */
export const sized = <T>(less: T, all: T): T => (long ? all : less);

/** A walk of the long run alone: what it goes through stands in tests of the short run as well, or beside them. */
export const itLong = (title: string, walk: () => void | Promise<void>): void => {
  if (long) it(title, walk);
};

/** Windows to look at a page in: the narrowest light, and in the long run wider ones in the dark. */
export const windowsTried: readonly (readonly [width: number, dark: boolean])[] = [
  [320, false],
  ...(long
    ? ([
        [768, true],
        [1280, true],
      ] as const)
    : []),
];
