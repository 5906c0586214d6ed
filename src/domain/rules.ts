/** The numbers of decisions 1 and 2 that the fold needs, times in ms. */
export interface FoldRules {
  /** Life of a status, an opinion and a price. */
  statusLifetimeMs: number;
  /** Reporters first seen within this count as one device. */
  deviceWindowMs: number;
  /** Age up to which an opinion takes part in a dispute. */
  disputeWindowMs: number;
  /** Time after first seen in which a reporter weighs half. */
  newcomerMs: number;
  /** A served `no` whose newest mark is younger makes newcomers' fuel marks need a second device. */
  cautionFreshMs: number;
  /** Time for which a newcomer's `no` helps to publish a `no` that is not served. */
  newcomerNoMs: number;
  /** Live opinions of a station that count, the newest: a number, not a time. */
  opinionsMax: number;
  /** A price supports one that is out of line when it is as near to it, per cent. */
  priceAlikePercent: number;
}
