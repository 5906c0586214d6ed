import { setImmediate as nextTurn } from "node:timers/promises";
import { createChances, type HeardMark } from "#src/domain/chance/chances.ts";
import {
  areSuspect,
  type HeardStation,
  isNear,
  learnRates,
  stepTowards,
} from "#src/domain/chance/learning.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { type ChanceNumbers, shippedNumbers } from "#src/domain/chance/numbers.ts";
import { order } from "#src/domain/state.ts";
import { startOfDay } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { zoneAheadMs } from "#src/domain/wall-clock.ts";
import { rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { heardMs, marksOfStations } from "#src/marks/chance-marks.ts";
import { type NightResult, noteNight, readLearning } from "#src/marks/chance-learning.ts";
import { fromMs } from "#src/marks/marks.ts";
import { zoneOf } from "#src/stations/territories.ts";
import type { RoleDeps } from "#workers/role.ts";

type Deps = Pick<RoleDeps, "db" | "config" | "clock">;

/** So many stations, others each night, so that nobody can aim at them. */
const stationsMost = 600;
const stationsAtOnce = 50;
const marksAtOnce = 250;
/** Fewer changes say too little of an instance. */
const changesLeast = 300;

/**
 * Learns the instance's own rates of change from the marks of three days, once a UTC day (decisions 23.21 to 23.23). Gives
 * what came of it; undefined when there was nothing to do.
 */
export async function learnInstanceRates({ db, config, clock }: Deps): Promise<string | undefined> {
  const now = clock();
  const { learns, rates, lookedAt } = await readLearning(db);
  const isDone = lookedAt !== null && lookedAt >= startOfDay(now);
  if (!config.chance || !learns || isDone) return undefined;
  const { marks, ahead } = await sampleOf(db, now);
  const { heard } = await run(shippedNumbers, marks, ahead);
  const work = learnRates(
    shippedNumbers,
    [...heard].map(([id, list]): HeardStation => {
      return { marks: list, until: Math.floor((now + ahead.get(id)!) / minuteMs) };
    }),
  );
  let step = work.next();
  for (; step.done !== true; step = work.next()) await nextTurn();
  const { changes, rates: seen } = step.value;
  const before = { ...shippedNumbers, ...rates };
  const after = { ...before, ...stepTowards(before, seen) };
  const judge = async (): Promise<NightResult> => {
    if (changes < changesLeast) return "few";
    if (areSuspect([...heard.values()].flat())) return "lies";
    if (isNear(before, after)) return "same";
    const [old, fresh] = [await run(before, marks, ahead), await run(after, marks, ahead)];
    return fresh.missed < old.missed ? "learnt" : "worse";
  };
  const result = await judge();
  const { fuel, none } = after;
  await noteNight(db, now, {
    ...{ stations: ahead.size, marks: marks.length, changes, result },
    rates: result === "learnt" ? { fuel, none } : rates,
  });
  return result;
}

/** The marks of some stations, in order, and by how much the clocks of these are ahead of UTC, ms. */
async function sampleOf(
  db: Deps["db"],
  now: number,
): Promise<{ marks: ChanceMark[]; ahead: ReadonlyMap<string, number> }> {
  const since = now - heardMs;
  const stations = await rows<{ id: string; lat: number; lon: number }>(
    db,
    `select id, lat, lon from stations join station_status on station_id = id
     where removed_at is null and station_status.updated_at > ${fromMs} order by random() limit ${stationsMost}`,
    [since],
  );
  const marks: ChanceMark[] = [];
  for (const some of slices(stations, stationsAtOnce)) {
    const found = await marksOfStations(db, new Map(some.map(({ id }) => [id, since])), now);
    for (const list of found.values()) marks.push(...list);
  }
  const ahead = new Map(stations.map(({ id, ...place }) => [id, zoneAheadMs(now, zoneOf(place))]));
  return { marks: marks.sort(order), ahead };
}

/** A run from nothing: what each station's marks were worth, and how far from the chances they were, squared. */
async function run(
  numbers: ChanceNumbers,
  marks: readonly ChanceMark[],
  ahead: ReadonlyMap<string, number>,
): Promise<{ heard: ReadonlyMap<string, readonly HeardMark[]>; missed: number }> {
  const heard = new Map<string, HeardMark[]>();
  const onHeard = (id: string, mark: HeardMark): void => {
    const list = heard.get(id);
    if (list === undefined) heard.set(id, [mark]);
    else list.push(mark);
  };
  const chances = createChances(numbers, (id) => ahead.get(id)!, undefined, undefined, onHeard);
  let missed = 0;
  for (const some of slices(marks, marksAtOnce)) {
    for (const mark of some) {
      const chance = chances.chanceAt(mark.stationId, mark.at);
      if (chance !== null) missed += (chance - Number(mark.fuel)) ** 2;
      chances.take([mark]);
    }
    await nextTurn();
  }
  return { heard, missed };
}
