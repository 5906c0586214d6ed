import { randomUUID } from "node:crypto";
import type { FeedRow } from "#src/feed/feed.ts";
import type { Box, Point } from "#src/domain/geo.ts";
import { createNextRun } from "#src/infrastructure/polled.ts";
import { onOtherMaster, type Redis } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/**
 * The hash of the generations: a field for each cell, the highest number of the change feed that changed a station
 * there; and `epoch`, a random text. A cached rectangle is valid if it was stored under the current epoch and has all
 * changes up to the generations of its cells (decisions 8).
 */
export const generationsKey = (prefix: string): string => `${prefix}:cells`;

const advanceLua = `
for i = 2, #ARGV do
  local known = tonumber(redis.call('HGET', KEYS[1], ARGV[i]))
  if not known or known < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], ARGV[i], ARGV[1]) end
end`;

/**
 * Advances the generations of these places to the change feed's number `seq`; never back. Call it after the commit:
 * every process then computes cached rectangles there anew. Rejects while Redis is away.
 */
export async function advanceGenerations(
  redis: Redis,
  prefix: string,
  places: readonly Point[],
  seq: number,
): Promise<void> {
  if (places.length > 0)
    await advanceCells(redis, prefix, new Set(places.flatMap((place) => cellsOf(place))), seq);
}

async function advanceCells(
  redis: Redis,
  prefix: string,
  cells: ReadonlySet<string>,
  seq: number,
): Promise<void> {
  await redis.eval(advanceLua, 1, generationsKey(prefix), seq, ...cells);
}

const renewLua = `
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'epoch', ARGV[1])`;

/** Drops every cached rectangle: none of them has the new epoch. Rejects while Redis is away. */
export async function renewEpoch(redis: Redis, prefix: string): Promise<void> {
  await redis.eval(renewLua, 1, generationsKey(prefix), randomUUID());
}

/**
 * The part of a process that follows the change feed: advances the generations of applied changes, because a marks
 * worker may die between its commit and its own call. If the changes are unknown, it renews the epoch instead: on each
 * connection to Redis (a failover may have lost the last generations), after a whole read or comparison of the feed,
 * and after a failed call.
 */
export function createInvalidation({
  redis,
  prefix,
  log,
}: Pick<Resources, "redis" | "log"> & {
  prefix: string;
}) {
  let noted = new Set<string>();
  let notedSeq = 0;
  let isRenewalDue = true;
  /** Renewals under way. */
  let renewing = 0;

  const renew = async (): Promise<void> => {
    isRenewalDue = false;
    renewing += 1;
    try {
      await renewEpoch(redis, prefix);
    } finally {
      renewing -= 1;
    }
    log.debug("epoch of the cached rectangles renewed");
  };

  const runs = createNextRun(async () => {
    const [cells, seq] = [noted, notedSeq];
    [noted, notedSeq] = [new Set(), 0];
    try {
      if (isRenewalDue) await renew();
      else if (cells.size > 0) await advanceCells(redis, prefix, cells, seq);
    } catch (error) {
      // The call may have run or not, and its cells are no longer known here.
      isRenewalDue = true;
      throw error;
    }
  });
  /** Sends the announced changes. True when all of them are in force, for every process. Never rejects. */
  const publish = (): Promise<boolean> =>
    runs.run().then(
      () => true,
      () => false,
    );
  const renewSoon = (): void => {
    isRenewalDue = true;
    void publish();
  };
  onOtherMaster(redis, renewSoon);

  return {
    /**
     * Advances the generations for rows of the feed that are about to be applied; `placeBefore` gives a station's place
     * until then, because a move changes two places.
     */
    announce(rows: readonly FeedRow[], placeBefore: (row: FeedRow) => Point | undefined): void {
      for (const row of rows) {
        const before = placeBefore(row);
        for (const place of before === undefined ? [row] : [before, row])
          for (const cell of cellsOf(place)) noted.add(cell);
        notedSeq = Math.max(notedSeq, row.seq);
      }
      void publish();
    },
    publish,
    /** Renews the epoch, for unknown changes. */
    renewSoon,
    /** False while a renewal is due, when a cached rectangle may be outdated. */
    isCurrent(): boolean {
      if (isRenewalDue && renewing === 0) void publish();
      return !isRenewalDue && renewing === 0;
    },
  };
}

/** Most cells of a rectangle: each is a field that Redis reads. */
const cellsMax = 16;
/**
 * Cells in a degree, for cells of 0.0625° (about 7 km), 0.25° and 4°. Powers of two, so that the cell of a point is
 * computed without rounding.
 */
const levels = [16, 4, 0.25] as const;
const wholeMap = "all";

const rowOf = (lat: number, perDegree: number): number => Math.floor(lat * perDegree);
const columnOf = (lon: number, perDegree: number): number => Math.floor(lon * perDegree);

/** ±180° is one meridian. */
const cellAt = (row: number, column: number, perDegree: number): string => {
  const around = 360 * perDegree;
  return `${perDegree}:${row}:${((column % around) + around) % around}`;
};

/** The cells that contain a point, one of each level. A change there drops the cached rectangles of these cells. */
export const cellsOf = ({ lat, lon }: Point): string[] => [
  ...levels.map((perDegree) => cellAt(rowOf(lat, perDegree), columnOf(lon, perDegree), perDegree)),
  wholeMap,
];

/**
 * The cells of one level that together contain a rectangle and its edges: the finest level that needs at most 16, else
 * the whole map. They include one of `cellsOf` for each point of the rectangle.
 */
export function cellsAround({ south, west, north, east }: Box): string[] {
  for (const perDegree of levels) {
    const from = columnOf(west, perDegree);
    const to = columnOf(west > east ? east + 360 : east, perDegree);
    const first = rowOf(south, perDegree);
    const last = rowOf(north, perDegree);
    const columns = Math.min(to - from + 1, 360 * perDegree);
    if (columns * (last - first + 1) > cellsMax) continue;
    const cells: string[] = [];
    for (let row = first; row <= last; row++)
      for (let column = from; column < from + columns; column++)
        cells.push(cellAt(row, column, perDegree));
    return cells;
  }
  return [wholeMap];
}
