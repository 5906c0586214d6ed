import { type BelievedStation, createChances } from "#src/domain/chance/chances.ts";
import { levelOf } from "#src/domain/chance/level.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { createPassage } from "#src/domain/chance/passage.ts";
import { order } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import { zoneAheadMs } from "#src/domain/wall-clock.ts";
import { heardMs } from "#src/marks/chance-marks.ts";
import { createIdTable, type IdTable, larger, roomFor } from "#src/feed/id-table.ts";
import { zoneOf } from "#src/stations/territories.ts";
import type { ChanceMemory as Stored } from "#snapshots/dumps/chance-snapshot.ts";

/** A station's row as the follower reads it; `updatedAt` in µs changes with every fold of it. */
export interface FollowedRow {
  id: string;
  updatedAt: number;
  level: number | null;
  lat: number;
  lon: number;
}

/** What is known of a station beside the belief, as it is stored: which marks are in it. */
export interface Known {
  updatedAt: number;
  /** What is written in its row. */
  level: number | null;
  zone: string;
  /** The belief has the `count` marks after `from`, ms; the `sum` of their ids tells them from others. */
  from: number;
  count: number;
  sum: number;
}

export type ChanceMemory = ReturnType<typeof createChanceMemory>;

/** Older marks than `heardMs` and this are taken out of count and sum. */
const spareMs = dayMs;
const sumBelow = 2 ** 52;
const sumOf = (marks: readonly ChanceMark[], start = 0): number =>
  marks.reduce((sum, { id }) => (sum + id) % sumBelow, start);

/**
 * What is known of each station by its number, in columns: objects took five times the memory. A column is replaced when
 * it grows: read it from the table each time.
 */
function createKnownTable(ids: IdTable) {
  const zones = createIdTable();
  const table = {
    updatedAt: new Float64Array(),
    /** -1 for none. */
    level: new Int32Array(),
    zone: new Uint32Array(),
    /** 0 while nothing is known of the station. */
    from: new Float64Array(),
    count: new Uint32Array(),
    sum: new Float64Array(),
    /** The number of a station that something is known of; else -1. */
    find(id: string): number {
      const station = ids.find(id);
      return (table.from[station] ?? 0) === 0 ? -1 : station;
    },
    put(id: string, { updatedAt, level, zone, from, count, sum }: Known): void {
      const station = ids.numberOf(id);
      if (station >= table.from.length) grow(roomFor(station + 1));
      table.updatedAt[station] = updatedAt;
      table.level[station] = level ?? -1;
      table.zone[station] = zones.numberOf(zone);
      table.from[station] = from;
      table.count[station] = count;
      table.sum[station] = sum;
    },
    zoneOf: (station: number): string => zones.id(table.zone[station]!),
    levelOf: (station: number): number | null =>
      table.level[station] === -1 ? null : table.level[station]!,
    *all(): Generator<[station: number, id: string]> {
      for (const [station, from] of table.from.entries())
        if (from > 0) yield [station, ids.id(station)];
    },
  };
  const grow = (length: number): void => {
    for (const name of ["updatedAt", "from", "sum"] as const)
      table[name] = larger(table[name], length);
    for (const name of ["zone", "count"] as const) table[name] = larger(table[name], length);
    table.level = larger(table.level, length);
  };
  return table;
}

/**
 * The chances of all stations, with what tells whether a station's marks are still those that were heard. `ids`: their
 * numbers, which others may share.
 */
export function createChanceMemory(numbers: ChanceNumbers, ids: IdTable, stored?: Stored<Known>) {
  const known = createKnownTable(ids);
  /** By how much the clocks of the time zones are ahead, at `now`. */
  const ahead = new Map<string, number>();
  let now = stored?.lookedAt ?? 0;
  const aheadMs = (id: string): number => {
    const zone = known.zoneOf(ids.find(id));
    let ms = ahead.get(zone);
    if (ms === undefined) {
      ms = zoneAheadMs(now, zone);
      ahead.set(zone, ms);
    }
    return ms;
  };
  const chances = createChances(numbers, aheadMs, createPassage(numbers), stored?.shared);
  for (const [id, of, believed] of stored?.stations ?? []) {
    known.put(id, of);
    if (believed) chances.put(id, believed);
  }

  /** The belief of the station is made of these marks, those after `from`, ms. */
  const reset = (station: number, from: number, marks: readonly ChanceMark[]): void => {
    known.from[station] = from;
    known.count[station] = marks.length;
    known.sum[station] = sumOf(marks);
  };
  function* entries(): Generator<
    [id: string, known: Known, believed: BelievedStation | undefined]
  > {
    for (const [station, id] of known.all()) {
      const [updatedAt, from] = [known.updatedAt[station]!, known.from[station]!];
      const [count, sum] = [known.count[station]!, known.sum[station]!];
      const [level, zone] = [known.levelOf(station), known.zoneOf(station)];
      yield [id, { updatedAt, level, zone, from, count, sum }, chances.get(id)];
    }
  }
  /** The time of the last mark in a station's belief. */
  const lastAt = (id: string): number => chances.get(id)?.countedAt ?? -Infinity;

  return {
    /** The time of what follows, ms. */
    setNow(ms: number): void {
      now = ms;
      ahead.clear();
    },
    size: (): number => known.from.reduce((count, from) => (from > 0 ? count + 1 : count), 0),
    ids: (): string[] => Array.from(known.all(), ([, id]) => id),
    /** Notes the level in a station's row; true if its marks may have changed since it was `followed`. */
    note({ id, updatedAt, level, lat, lon }: FollowedRow): boolean {
      const station = known.find(id);
      if (station !== -1) {
        known.level[station] = level ?? -1;
        return known.updatedAt[station] !== updatedAt;
      }
      const nothing = { from: now - heardMs, count: 0, sum: 0 };
      known.put(id, { updatedAt: 0, level, zone: zoneOf({ lat, lon }), ...nothing });
      return true;
    },
    /** All marks that the row tells of have been heard. */
    followed: ({ id, updatedAt }: FollowedRow): void =>
      void (known.updatedAt[known.find(id)] = updatedAt),
    /** Some of the station's marks may not have been heard. */
    doubt: (id: string): void => void (known.updatedAt[known.find(id)] = 0),
    /** The time, ms, after which a station's marks are to be compared with what was heard. */
    sinceOf: (id: string): number => known.from[known.find(id)]!,
    /**
     * Hears marks of noted stations. Gives the stations of those that do not come last at their station: they are to be
     * followed with all their marks.
     */
    hear(marks: readonly ChanceMark[]): Set<string> {
      const late = new Set<string>();
      const taken = marks.toSorted(order).filter((mark) => {
        const station = known.find(mark.stationId);
        if (station === -1 || late.has(mark.stationId)) return false;
        if (mark.at <= lastAt(mark.stationId)) {
          late.add(mark.stationId);
          return false;
        }
        known.count[station]! += 1;
        known.sum[station] = sumOf([mark], known.sum[station]);
        return true;
      });
      chances.take(taken);
      return late;
    },
    /**
     * Compares a station's counted marks after `sinceOf(id)`, in order, with those that were heard. Gives the new ones,
     * to be heard; if others have come or gone, the station is heard anew at once, and none are left.
     */
    follow(id: string, marks: readonly ChanceMark[]): readonly ChanceMark[] {
      const station = known.find(id);
      const from = now - heardMs;
      const heard = marks.slice(0, known.count[station]);
      const isSame = heard.length === known.count[station] && sumOf(heard) === known.sum[station];
      if (isSame && known.from[station]! >= from - spareMs) return marks.slice(heard.length);
      const kept = (isSame ? heard : marks).filter(({ at }) => at > from);
      reset(station, from, kept);
      if (isSame) return marks.slice(heard.length);
      chances.retake(id, kept);
      return [];
    },
    /** The level that is to be written for a station; undefined if that of its row is right. */
    levelToWrite(id: string): number | null | undefined {
      const station = known.find(id);
      if (station === -1) return undefined;
      const before = known.levelOf(station);
      const chance = lastAt(id) > now - heardMs ? chances.chanceAt(id, now) : null;
      const level = chance === null ? null : levelOf(chance, before);
      return level === before ? undefined : level;
    },
    wrote: (id: string, level: number | null): void =>
      void (known.level[known.find(id)] = level ?? -1),
    /** Forgets the stations without a mark and without a level, once no look comes by them any more. */
    forgetSilent(): void {
      for (const [station, id] of known.all()) {
        if (lastAt(id) > now - heardMs || known.level[station] !== -1) continue;
        chances.forget(id);
        const isOver = known.updatedAt[station]! / 1000 < now - heardMs;
        reset(station, isOver ? 0 : now - heardMs, []);
      }
    },
    chanceAt: (id: string, at: number): number | null => chances.chanceAt(id, at),
    stored: (lookedAt: number): Stored<Known> => ({
      lookedAt,
      shared: chances.shared(),
      stations: entries(),
    }),
  };
}
