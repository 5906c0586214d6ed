import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";

/** What the model of a chance takes as known before it has heard a mark. Times in ms, shares from 0 to 1. */
export interface ChanceNumbers {
  /** How long stations have fuel: most deliveries are gone soon, some last. */
  fuel: { soonShare: number; soonMeanMs: number; lastsMeanMs: number };
  /** How long they have none: a few wait for hours, the others for a refill by local hour, a rate per hour. */
  none: { soonShare: number; soonMeanMs: number; refillsPerHour: readonly number[] };
  /** From a change to the first mark, from there to a further one, and until no more will come. */
  telling: { firstMeanMs: number; furtherMeanMs: number; knownMeanMs: number };
  /** Share of a station's marks that do not tell of a change. */
  besideChanges: number;
  /** Marks of a station: before it has any, for how many hours that weighs, and how fast the count decays. */
  marks: { perHour: number; priorHours: number; decayMs: number };
  /** After so long a silence hardly more is known of a station than the usual. */
  silenceMs: number;
  /** Share of honest marks that are mistaken. */
  mistakes: number;
  /** Lying marks that say so at a station where the opposite is true, on each of its marks, at a share of a half. */
  lies: { fuel: number; none: number };
  shares: SharesNumbers;
  /** In this time a second mark of a hand is a copy. People first seen so near to each other are one hand. */
  copyMs: number;
  sameHandMs: number;
  newcomerMs: number;
  /** So many later marks of others judge a mark, within this time. */
  judges: number;
  judgedWithinMs: number;
}

export interface SharesNumbers {
  /** Share of lies before anything is known. */
  first: number;
  class: Level;
  source: Level;
  reporter: Level;
  /** A reporter whose marks nobody has judged for so long, or up to twice that, is forgotten. */
  keptMs: number;
  /** So many people say how much is lied in the mean. */
  people: number;
  /** Of what honest marks look guilty in the mean. */
  doubt: number;
  /** A class goes so many times as far as its marks say: it would arrive too late. */
  eagerness: number;
}

/** For how many marks the level above weighs, how many are remembered, and the highest share. */
interface Level {
  prior: number;
  window: number;
  most: number;
}

/** One crisis in three cities; what is learnt of lies was tuned with `npm run bench -- trust --chance --seeds 1,2`. */
export const shippedNumbers: ChanceNumbers = {
  fuel: { soonShare: 0.82, soonMeanMs: 1.8 * hourMs, lastsMeanMs: 44 * hourMs },
  none: {
    soonShare: 0.09,
    soonMeanMs: 4 * hourMs,
    refillsPerHour: [
      0.03, 0.015, 0.004, 0.004, 0.02, 0.045, 0.058, 0.06, 0.055, 0.052, 0.05, 0.05, 0.05, 0.05,
      0.048, 0.048, 0.046, 0.046, 0.044, 0.044, 0.042, 0.04, 0.038, 0.034,
    ],
  },
  telling: { firstMeanMs: 8 * minuteMs, furtherMeanMs: 35 * minuteMs, knownMeanMs: 35 * minuteMs },
  besideChanges: 0.55,
  marks: { perHour: 0.27, priorHours: 12, decayMs: 72 * hourMs },
  silenceMs: 72 * hourMs,
  mistakes: 0.04,
  lies: { fuel: 0.75, none: 2.2 },
  shares: {
    first: 0.03,
    class: { prior: 20, window: 120, most: 0.5 },
    source: { prior: 15, window: 60, most: 0.5 },
    reporter: { prior: 4, window: 4, most: 0.85 },
    keptMs: 2 * dayMs,
    people: 300,
    doubt: 0.02,
    eagerness: 3,
  },
  copyMs: 6 * hourMs,
  sameHandMs: minuteMs,
  newcomerMs: dayMs,
  judges: 2,
  judgedWithinMs: 8 * hourMs,
};
