import { createRandom } from "#demo/country/random.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { type ChanceNumbers, shippedNumbers as shipped } from "#src/domain/chance/numbers.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";

export const t0 = Date.parse("2026-02-03T00:00:00Z");

/**
 * Honest marks of a country whose stations change at these rates, in order: made as the model takes them to come. `spells`: by
 * station, from when on it has fuel or has none.
 */
export function honestMarks(
  seed: number,
  { stations, days }: { stations: number; days: number },
  { fuel, none }: Pick<ChanceNumbers, "fuel" | "none">,
): { marks: ChanceMark[]; spells: { at: number; has: boolean }[][] } {
  const random = createRandom(seed);
  const until = t0 + days * dayMs;
  const spells: { at: number; has: boolean }[][] = [];
  const after = (meanMs: number): number => -Math.log(1 - random.next()) * meanMs;
  const refill = (from: number): number => {
    if (random.chance(none.soonShare)) return from + after(none.soonMeanMs);
    for (let left = after(1), at = from; ;) {
      const end = (Math.floor(at / hourMs) + 1) * hourMs;
      const rate = none.refillsPerHour[Math.floor(at / hourMs) % 24]!;
      if (((end - at) / hourMs) * rate >= left) return at + (left / rate) * hourMs;
      left -= ((end - at) / hourMs) * rate;
      at = end;
    }
  };
  const { firstMeanMs, furtherMeanMs, knownMeanMs } = shipped.telling;
  const marks: ChanceMark[] = [];
  for (let station = 0; station < stations; station += 1) {
    let has = random.chance(0.3);
    const own: { at: number; has: boolean }[] = [];
    spells.push(own);
    for (let at = t0 - 3 * dayMs; at < until; has = !has) {
      const lasts = random.chance(fuel.soonShare) ? fuel.soonMeanMs : fuel.lastsMeanMs;
      const end = has ? at + after(lasts) : refill(at);
      own.push({ at, has });
      const told = at + after(firstMeanMs);
      const known = told + after(knownMeanMs);
      const times = [told];
      for (let next = told + after(furtherMeanMs); next < known; next += after(furtherMeanMs))
        times.push(next);
      for (let next = at + after(6 * hourMs); next < end; next += after(6 * hourMs))
        times.push(next);
      for (const time of times.filter((one) => one > t0 && one < Math.min(end, until))) {
        const reporterId = random.int(1, 5000);
        marks.push({
          ...{ id: marks.length + 1, at: Math.floor(time), stationId: `s${station}`, reporterId },
          ...{ fuel: random.chance(0.04) ? !has : has, remote: false, network: null },
          ...{ sourceId: 1 + (reporterId % 3), firstSeen: t0 - 30 * dayMs - reporterId * hourMs },
        });
      }
      at = end;
    }
  }
  return { marks: marks.sort((a, b) => a.at - b.at), spells };
}
