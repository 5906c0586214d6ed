import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { BelievedStation, SharedBeliefs } from "#src/domain/chance/chances.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { slices } from "#src/infrastructure/lists.ts";
import type { Redis } from "#src/infrastructure/redis.ts";
import { loadVersion, saveVersion, type SnapshotPlace } from "#snapshots/dumps/versioned-store.ts";

/** Increase it when the format changes, so that old and new processes do not share beliefs. */
const format = 4;
const linesAtOnce = 500;
const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** All that a process knows that follows the marks; `Known` is what it knows of a station beside the belief. */
export interface ChanceMemory<Known> {
  /** Of the database, ms: every mark that was processed before it was heard. */
  lookedAt: number;
  shared: SharedBeliefs;
  stations: Iterable<[id: string, known: Known, believed: BelievedStation | undefined]>;
}

/** Beliefs under other numbers are other beliefs. */
const tagOf = (numbers: ChanceNumbers): string =>
  hash("sha1", JSON.stringify(numbers), "base64url");

/** The latest memory of chances in Redis, for whoever follows next. Every call rejects while Redis is away. */
export function createChanceStore<Known>(redis: Redis, prefix: string) {
  const place: SnapshotPlace = {
    ...{ key: `${prefix}:chances:${format}`, kind: "chances", channel: `${prefix}:chances` },
    ...{ name: "", keptMs: 3 * dayMs, silentMs: 10 * minuteMs },
  };
  return {
    /** False when a newer one is there. */
    async save(
      { lookedAt, shared, stations }: ChanceMemory<Known>,
      numbers: ChanceNumbers,
    ): Promise<boolean> {
      const first = await zip(JSON.stringify(shared, rounded), { level: 3 });
      const parts = [await zip("")];
      let lines: string[] = [];
      for (const one of stations) {
        lines.push(`\n${JSON.stringify(one, rounded)}`);
        if (lines.length < linesAtOnce) continue;
        parts.push(await zip(lines.join(""), { level: 3 }));
        lines = [];
      }
      parts.push(await zip(lines.join(""), { level: 3 }));
      const version = { seq: 0, asOfMs: lookedAt, builtAtMs: lookedAt };
      const fields = { tag: tagOf(numbers), shared: first, body: Buffer.concat(parts) };
      return saveVersion(redis, place, version, fields);
    },
    /** What all stations share, whatever the numbers; null without it. */
    async loadShared(): Promise<SharedBeliefs | null> {
      const found = await loadVersion(redis, place, ["shared"]);
      return found === null ? null : sharedIn(found.fields[0]!);
    },
    /** Null without one that can be used. */
    async load(numbers: ChanceNumbers): Promise<ChanceMemory<Known> | null> {
      const found = await loadVersion(redis, place, ["tag", "shared", "body"]);
      if (found === null || String(found.fields[0]) !== tagOf(numbers)) return null;
      const [, ...lines] = (await unzip(found.fields[2]!)).toString().split("\n");
      const stations: [string, Known, BelievedStation | undefined][] = [];
      for (const some of slices(lines, linesAtOnce)) {
        stations.push(...some.map((line) => JSON.parse(line) as (typeof stations)[number]));
        await nextTurn();
      }
      return {
        lookedAt: found.version.asOfMs,
        shared: await sharedIn(found.fields[1]!),
        stations,
      };
    },
  };
}

const sharedIn = async (zipped: Buffer): Promise<SharedBeliefs> =>
  JSON.parse((await unzip(zipped)).toString()) as SharedBeliefs;

const digits = 1e9;
/** Weights with as many digits as matter. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isInteger(value)
    ? Math.round(value * digits) / digits
    : value;
