const long = process.env["TEST_LONG"] === "1";

/** How much is tried: `less` by `npm test`, so much that a broken rule shows; `all` by `npm run test:long`. */
export const sized = <T>(less: T, all: T): T => (long ? all : less);

/** A walk of the long run alone: what it goes through stands in tests of the short run as well, or beside them. */
export const itLong = (title: string, walk: () => void | Promise<void>): void => {
  if (long) it(title, walk);
};

/** Windows to look at a page in: the narrowest light and the widest dark, and in the long run those between. */
export const windowsTried: readonly (readonly [width: number, dark: boolean])[] = long
  ? [320, 768, 1280].flatMap((width) => [[width, false] as const, [width, true] as const])
  : [
      [320, false],
      [1280, true],
    ];

/** The windows to look at page number `n` in, of many that share their parts: in the short run one of the two. */
export const windowsOf = (n: number): typeof windowsTried =>
  long ? windowsTried : [windowsTried[n % 2]!];
