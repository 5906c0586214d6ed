import zoneAt from "@photostructure/tz-lookup";
import { type BelievedStation, createChances } from "#src/domain/chance/chances.ts";
import { levelOf } from "#src/domain/chance/level.ts";
import type { ChanceMark } from "#src/domain/chance/mark.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { createPassage } from "#src/domain/chance/passage.ts";
import { order } from "#src/domain/state.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { wallMinutes } from "#src/domain/wall-clock.ts";
import { heardMs } from "#src/marks/chance-marks.ts";
import type { ChanceMemory as Stored } from "#snapshots/dumps/chance-snapshot.ts";

/** A station's row as the follower reads it; `updatedAt` in µs changes with every fold of it. */
export interface FollowedRow {
  id: string;
  updatedAt: number;
  level: number | null;
  lat: number;
  lon: number;
}

/** What is known of a station beside the belief: which marks are in it. */
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

/** The chances of all stations, with what tells whether a station's marks are still those that were heard. */
export function createChanceMemory(numbers: ChanceNumbers, stored?: Stored<Known>) {
  const stations = new Map<string, Known>();
  /** By how much the clocks of the time zones are ahead, at `now`. */
  const ahead = new Map<string, number>();
  let now = stored?.lookedAt ?? 0;
  const aheadMs = (id: string): number => {
    const { zone } = stations.get(id)!;
    let ms = ahead.get(zone);
    if (ms === undefined) {
      ms = wallMinutes(now, zone) * minuteMs - Math.floor(now / minuteMs) * minuteMs;
      ahead.set(zone, ms);
    }
    return ms;
  };
  const chances = createChances(numbers, aheadMs, createPassage(numbers), stored?.shared);
  for (const [id, known, believed] of stored?.stations ?? []) {
    stations.set(id, known);
    if (believed) chances.put(id, believed);
  }

  const add = (known: Known, mark: ChanceMark): void => {
    known.count += 1;
    known.sum = sumOf([mark], known.sum);
  };
  /** The time of the last mark in a station's belief. */
  const lastAt = (id: string): number => chances.get(id)?.countedAt ?? -Infinity;

  return {
    /** The time of what follows, ms. */
    setNow(ms: number): void {
      now = ms;
      ahead.clear();
    },
    size: (): number => stations.size,
    ids: (): Iterable<string> => stations.keys(),
    /** Notes the level in a station's row; true if its marks may have changed since it was `followed`. */
    note({ id, updatedAt, level, lat, lon }: FollowedRow): boolean {
      const known = stations.get(id);
      if (known !== undefined) {
        known.level = level;
        return known.updatedAt !== updatedAt;
      }
      const nothing = { from: now - heardMs, count: 0, sum: 0 };
      stations.set(id, { updatedAt: 0, level, zone: zoneAt(lat, lon), ...nothing });
      return true;
    },
    /** All marks that the row tells of have been heard. */
    followed: ({ id, updatedAt }: FollowedRow): void =>
      void (stations.get(id)!.updatedAt = updatedAt),
    /** The time, ms, after which a station's marks are to be compared with what was heard. */
    sinceOf: (id: string): number => stations.get(id)!.from,
    /**
     * Hears marks of noted stations. Gives the stations of those that do not come last at their station: they are to be
     * followed with all their marks.
     */
    hear(marks: readonly ChanceMark[]): Set<string> {
      const late = new Set<string>();
      const taken = marks.toSorted(order).filter((mark) => {
        const known = stations.get(mark.stationId);
        if (known === undefined || late.has(mark.stationId)) return false;
        if (mark.at <= lastAt(mark.stationId)) {
          late.add(mark.stationId);
          return false;
        }
        add(known, mark);
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
      const known = stations.get(id)!;
      const from = now - heardMs;
      const heard = marks.slice(0, known.count);
      const isSame = heard.length === known.count && sumOf(heard) === known.sum;
      if (isSame && known.from >= from - spareMs) return marks.slice(known.count);
      const kept = (isSame ? heard : marks).filter(({ at }) => at > from);
      Object.assign(known, { from, count: kept.length, sum: sumOf(kept) });
      if (isSame) return marks.slice(heard.length);
      chances.retake(id, kept);
      return [];
    },
    /** The level that is to be written for a station; undefined if that of its row is right. */
    levelToWrite(id: string): number | null | undefined {
      const known = stations.get(id);
      if (known === undefined) return undefined;
      const chance = lastAt(id) > now - heardMs ? chances.chanceAt(id, now) : null;
      const level = chance === null ? null : levelOf(chance, known.level);
      return level === known.level ? undefined : level;
    },
    wrote: (id: string, level: number | null): void => void (stations.get(id)!.level = level),
    /** Forgets the stations without a mark and without a level, once no look comes by them any more. */
    forgetSilent(): void {
      for (const [id, known] of stations) {
        if (lastAt(id) > now - heardMs || known.level !== null) continue;
        chances.forget(id);
        if (known.updatedAt / 1000 < now - heardMs) stations.delete(id);
        else Object.assign(known, { from: now - heardMs, count: 0, sum: 0 });
      }
    },
    chanceAt: (id: string, at: number): number | null => chances.chanceAt(id, at),
    stored: (lookedAt: number): Stored<Known> => ({
      lookedAt,
      shared: chances.shared(),
      stations: [...stations].map(([id, known]): [string, Known, BelievedStation | undefined] => [
        id,
        known,
        chances.get(id),
      ]),
    }),
  };
}
