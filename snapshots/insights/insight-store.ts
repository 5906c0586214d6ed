import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import {
  loadVersion,
  saveVersion,
  type SnapshotPlace,
  type SnapshotVersion,
} from "#snapshots/dumps/versioned-store.ts";
import type { StoredCity } from "#src/import/read-cities.ts";
import type { Counts } from "#src/domain/insights.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import type { InsightDay } from "#src/marks/insight-days.ts";

/** The figures that change with every look. */
export interface InsightsNow {
  /** The cities that stations belong to, the largest first. */
  cities: StoredCity[];
  /** Counts by city id, `""` for stations without a city. */
  counts: Record<string, Counts>;
  /** Today as far as it has passed. */
  today: InsightDay & { lengthMs: number };
}

export interface Insights extends InsightsNow {
  asOfMs: number;
  /** The days before today, the oldest first. */
  days: readonly InsightDay[];
}

/** Increase it when the format changes, so that old and new processes do not share figures. */
const format = 3;
/** Figures that are older count as none. */
const insightsKeptMs = 24 * hourMs;
/** Time without new figures after which any replace them: the database may have been restored. */
const silentMs = 10 * minuteMs;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

/**
 * The latest insights in Redis. Past days, which hardly ever change, are packed and unpacked only when they do. Every
 * call rejects while Redis is away.
 */
export function createInsightStore(redis: Redis, prefix: string) {
  const key = `${prefix}:insights:${format}`;
  const place: SnapshotPlace = {
    ...{ key, kind: "insights", channel: `${prefix}:insights`, name: "" },
    ...{ keptMs: insightsKeptMs, silentMs },
  };
  let packed: { tag: string; body: Buffer } | null = null;
  let unpacked: { tag: string; days: InsightDay[] } | null = null;
  return {
    /** Stores them unless newer ones are there; false when they are. */
    async save(
      version: SnapshotVersion,
      now: InsightsNow,
      days: readonly InsightDay[],
    ): Promise<boolean> {
      const text = JSON.stringify(days.map(({ at, cities, grades }) => ({ at, cities, grades })));
      const tag = hash("sha1", text, "base64url");
      if (packed?.tag !== tag) packed = { tag, body: await zip(text, { level: 3 }) };
      const body = await zip(JSON.stringify(now), { level: 3 });
      return saveVersion(redis, place, version, { now: body, tag, days: packed.body });
    },
    /** Null when there are none; "same" when they are those of `builtAtMs`, or were just replaced. */
    async load(builtAtMs: number | null): Promise<(Insights & SnapshotVersion) | "same" | null> {
      const head = await loadVersion(redis, place, ["tag"]);
      if (head === null) return null;
      if (head.version.builtAtMs === builtAtMs) return "same";
      // One command reads all parts, so that they belong together.
      const isKnown = unpacked?.tag === String(head.fields[0]);
      const found = await loadVersion(
        redis,
        place,
        isKnown ? ["now", "tag"] : ["now", "tag", "days"],
      );
      if (found === null) return null;
      const { fields, version } = found;
      const [now, tag, days] = fields as [Buffer, Buffer, Buffer | undefined];
      if (days !== undefined)
        unpacked = {
          tag: String(tag),
          days: JSON.parse(String(await unzip(days))) as InsightDay[],
        };
      // The insights were stored anew between the two commands: the next look reads both.
      if (unpacked?.tag !== String(tag)) return "same";
      return {
        ...version,
        ...(JSON.parse(String(await unzip(now))) as InsightsNow),
        days: unpacked.days,
      };
    },
  };
}
