import type { Random } from "#demo/country/random.ts";
import { assortment } from "#demo/country/stations.ts";
import { queues, type Grade, type Queue, type Status } from "#src/domain/vocabulary.ts";

/** What a synthetic driver says beside the status. */
export interface DemoStatement {
  fuels: Grade[];
  fuelsNo: Grade[];
  queue: Queue | null;
  prices: Partial<Record<Grade, number>> | null;
  limitL: number | null;
  noCash: boolean | null;
  fuelCardsOnly: boolean | null;
}

// Roubles a litre.
const basePrices: Record<Grade, number> = {
  "92": 61.4,
  "95": 66.2,
  "98": 83.5,
  "100": 87.9,
  ДТ: 74.3,
};

/** Something plausible to say about a station with that status. */
export function makeStatement(random: Random, stationId: string, status: Status): DemoStatement {
  const sold = assortment(stationId);
  const scarce = status === "low" || status === "queue";
  const dry = status === "no" ? sold : sold.filter(() => random.chance(scarce ? 0.35 : 0.06));
  const left = sold.filter((grade) => !dry.includes(grade));
  const talks = random.chance(0.85);
  return {
    fuels: talks ? left : [],
    fuelsNo: talks ? dry : [],
    queue: queueFor(random, status),
    prices:
      status !== "no" && left.length > 0 && random.chance(0.4) ? pricesOf(random, left) : null,
    limitL: scarce && random.chance(0.3) ? random.pick([20, 30, 40, 60]) : null,
    noCash: random.chance(0.06) ? true : null,
    fuelCardsOnly: scarce && random.chance(0.08) ? true : null,
  };
}

function queueFor(random: Random, status: Status): Queue | null {
  if (status === "queue")
    return random.weighted([
      ["5-10", 4],
      ["10-20", 4],
      ["20+", 3],
      ["0-5", 1],
    ]);
  if (status === "no" || !random.chance(0.3)) return null;
  return random.chance(0.8) ? queues[0] : queues[1];
}

function pricesOf(random: Random, grades: readonly Grade[]): Partial<Record<Grade, number>> {
  const level = random.between(0.96, 1.09);
  return Object.fromEntries(
    grades.map((grade) => [
      grade,
      Math.round(basePrices[grade] * level * random.between(0.995, 1.005) * 100) / 100,
    ]),
  );
}
