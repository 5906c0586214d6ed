import { brotliCompressSync, constants, deflateRawSync } from "node:zlib";
import { createWays } from "#bench/trust/chance/ways.ts";
import type { Played } from "#bench/trust/chance/measure.ts";
import { createRandom } from "#demo/country/random.ts";
import { makeStations } from "#demo/country/stations.ts";
import { stationHead } from "#src/contract/present.ts";
import { levelOf } from "#src/domain/chance/level.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { emptyState, type FuelBlock } from "#src/domain/state.ts";
import { formatTime, parseTime } from "#src/domain/time.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { view, withChance } from "#src/domain/view.ts";

const stationCount = 30_000;
const knownShare = 0.6;
/** Levels follow in such steps, and what is served then is taken at each tenth. */
const [stepMs, takenEach] = [5 * minuteMs, 10];
/** As a dump is packed. */
const [level, quality] = [6, 5];

/** By how much the chance lets a dump of a country grow, as a share of its bytes. */
export function dumpGrowth(played: Played): { gzip: number; brotli: number } {
  const random = createRandom(1);
  const found = servedIn(played);
  const unknown = { fuel: view(emptyState, 0, dayMs), chance: null };
  const stations = makeStations(random, stationCount).map((station) => ({
    head: stationHead(station),
    ...(random.chance(knownShare) ? random.pick(found) : unknown),
  }));
  const dump = (chances: boolean): string[] =>
    stations.map(({ head, fuel, chance }) => {
      const served = chances ? withChance(fuel, chance) : fuel;
      return `${head}${JSON.stringify(served)}},`;
    });
  const [before, after] = [packed(dump(false)), packed(dump(true))];
  return { gzip: after.gzip / before.gzip - 1, brotli: after.brotli / before.brotli - 1 };
}

/** What stations served in a simulation, with the chance beside it, as if all had been at its end. */
function servedIn({ country, window: { from, until }, timelines, ...heard }: Played) {
  const ways = createWays(country, { timelines, ...heard }, shippedNumbers);
  const levels = country.stations.map((): number | null => null);
  const found: { fuel: FuelBlock; chance: number | null }[] = [];
  for (let at = from, step = 1; at < until; at += stepMs, step += 1) {
    const { chance } = ways.at(at);
    for (const station of levels.keys()) {
      if (ways.isKnown(station)) levels[station] = levelOf(chance[station]!, levels[station]!);
      const fuel = timelines[station]!.findLast((shown) => shown.at <= at)?.fuel;
      if (step % takenEach !== 0 || fuel === undefined) continue;
      const updated = parseTime(fuel.updated);
      const moved = updated === null ? "" : formatTime(updated + until - at);
      found.push({ fuel: { ...fuel, updated: moved }, chance: levels[station]! });
    }
  }
  return found;
}

function packed(stations: readonly string[]): { gzip: number; brotli: number } {
  const list = stations.join("");
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_LGWIN]: 20 };
  return {
    gzip: deflateRawSync(list, { level, memLevel: 9 }).length,
    brotli: brotliCompressSync(list, { params }).length,
  };
}
