/**
 * The part of a role's `places`, a quarter, that those whose last attempt failed may take: they may hang, and must not
 * hold the places of all others (decisions 20.13, 14.61).
 */
export function createFailingPlaces(places: number) {
  let free = Math.ceil(places / 4);
  /** Claims something, also one that failed if there is a place for it, and works on it. Null without a claim. */
  return async <Claimed extends { failures: number }, Done>(
    claim: (mayFail: boolean) => Promise<Claimed | null>,
    work: (claimed: Claimed) => Promise<Done>,
  ): Promise<Done | null> => {
    let held = free > 0 ? 1 : 0;
    const leave = (): void => void ([free, held] = [free + held, 0]);
    free -= held;
    try {
      const claimed = await claim(held > 0);
      if (claimed?.failures === 0) leave();
      return claimed && (await work(claimed));
    } finally {
      leave();
    }
  };
}
