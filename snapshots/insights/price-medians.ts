import { setImmediate as breathe } from "node:timers/promises";
import type { Point } from "#src/domain/geo.ts";
import { type ByGrade, cellOf, type PriceGrid } from "#src/domain/price-line.ts";
import { hourMs } from "#src/domain/units.ts";
import { readChecked, withChecksum } from "#src/infrastructure/checksum.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** The median price of a litre by cell of the grid and grade; cells without any are left out. */
type Medians = Record<number, ByGrade>;

/** Increase it when the format or the grid changes, so that old and new processes do not share medians. */
const format = 2;
/** Older medians count as none: prices may have changed. They are made once in an hour at least (`insightsMs`). */
const keptMs = 3 * hourMs;
const cellsAtOnce = 50;

const keyOf = (prefix: string): string => `${prefix}:price-medians:${format}`;

/** The medians of all cells. Lets others work in between. */
export async function findMedians(grid: PriceGrid): Promise<Medians> {
  const medians: Medians = {};
  let looked = 0;
  for (const cell of grid.cells()) {
    const found = grid.mediansOf(cell);
    if (Object.keys(found).length > 0) medians[cell] = found;
    if (++looked % cellsAtOnce === 0) await breathe();
  }
  return medians;
}

/** Stores medians that were made at `madeAt`, ms, for three hours. Rejects while Redis is away. */
export const saveMedians = async (
  redis: Redis,
  prefix: string,
  medians: Medians,
  madeAt: number,
): Promise<void> => {
  const key = keyOf(prefix);
  await redis.set(key, withChecksum(key, JSON.stringify({ madeAt, medians })), "PX", keptMs);
};

/**
 * Keeps the latest medians in memory, so that a mark with prices asks nobody. Looks for newer ones as often as they are
 * made; while Redis is away or has lost them, those that are here go on.
 */
export function createLatestMedians(deps: Pick<Resources, "config" | "log" | "clock" | "redis">) {
  const { config, log, clock, redis } = deps;
  let latest: { madeAt: number; medians: Medians } | null = null;

  const { start, stop } = createPolled({
    everyMs: config.insightsMs,
    look: async () => {
      const found = await readChecked(redis, keyOf(config.redisPrefix), "medians");
      if (found !== null) latest = JSON.parse(found) as NonNullable<typeof latest>;
    },
    onError: (err) => log.debug({ err }, "no look at the medians of prices"),
  });

  return {
    ...{ start, stop },
    /** The medians around a place, by grade; none as long as none are known. */
    at: (place: Point): ByGrade =>
      latest === null || clock() - latest.madeAt >= keptMs
        ? {}
        : (latest.medians[cellOf(place)] ?? {}),
  };
}
