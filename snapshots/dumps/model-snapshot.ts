import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { crc32, gunzip, gunzipSync, gzipSync } from "node:zlib";
import { type City, cityShape } from "#snapshots/cities.ts";
import {
  loadVersion,
  saveVersion,
  type SnapshotPlace,
  type SnapshotVersion,
} from "#snapshots/dumps/versioned-store.ts";
import { ownCopy } from "#snapshots/model/long-buffers.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { hourMs } from "#src/domain/units.ts";
import { byPlace, type FeedRow, readRow } from "#src/feed/feed.ts";
import type { Redis } from "#src/infrastructure/redis.ts";

export type ModelSnapshotStore = ReturnType<typeof createModelSnapshotStore>;

/** Increase it when the format of a line changes, so that old and new processes do not share snapshots. */
const format = 5;
const unzip = promisify(gunzip);

/** Longer than the window of a delta: an older snapshot is of no use. */
const keptMs = 48 * hourMs;

/**
 * The latest model snapshot in Redis: all that a web process needs to serve reads while Postgres is away. Every call
 * rejects while Redis is away. `silentMs`: time without renewal after which any other snapshot replaces it.
 */
export function createModelSnapshotStore(redis: Redis, prefix: string, silentMs: number) {
  const key = `${prefix}:model:${format}`;
  const place: SnapshotPlace = {
    key,
    kind: "model",
    channel: `${prefix}:models`,
    name: "",
    keptMs,
    silentMs,
  };
  return {
    /** Stores a snapshot with these packed lines (see `createLedger`) unless a newer one is there; false when it is. */
    async save(
      version: SnapshotVersion,
      cities: readonly City[],
      lines: readonly Buffer[],
    ): Promise<boolean> {
      const first = gzipSync(JSON.stringify(cities), { level: 3 });
      const body = { name: "body", parts: [first, ...lines] };
      return saveVersion(redis, place, version, { cities: sumOfCities(cities) }, body);
    },
    /** Its version and the `sumOfCities` of its cities. */
    async head() {
      const found = await loadVersion(redis, place, ["cities"]);
      return found && { ...found.version, cities: String(found.fields[0]) };
    },
    /** `rows`: every station of the change feed, those taken out of service too. */
    async load(): Promise<(SnapshotVersion & { cities: City[]; rows: FeedRow[] }) | null> {
      const found = await loadVersion(redis, place, ["body"]);
      if (found === null) return null;
      const { fields, version } = found;
      const [first = "", ...lines] = (await unzip(fields[0] as Buffer)).toString().split("\n");
      // A line that cannot be read is left out: the database has it. The last line of a station is the newest.
      const read = lines.map(readLine).filter(({ fault }) => fault === undefined);
      const newest = new Map(read.map((row) => [row.id, row]));
      const cities = (JSON.parse(first) as City[]).filter((city) => cityShape(city) === null);
      return { ...version, cities, rows: [...newest.values()].sort(byPlace) };
    },
  };
}

/** Equal for equal cities. */
export const sumOfCities = (cities: readonly City[]): string =>
  hash("sha1", JSON.stringify(cities), "base64url");

export type Ledger = ReturnType<typeof createLedger>;

/** Enough parts that each is packed within a few milliseconds, even with 300,000 stations. */
const partCount = 256;
/** Most unpacked lines of a part: a start, which reads the whole country, packs before all of it is there. */
const waitingMost = 100;
/** Most pieces of a part: newer lines are added in one more, without a look at the others. */
const piecesMost = 16;

/** The lines of some stations: packed, each behind a line feed, and those that have changed since, by id. */
interface Part {
  packed: Buffer[];
  changed: Map<string, string>;
}

/**
 * The feed's current rows, which a model does not keep, as lines of text, packed. The characters of a line are the bytes
 * of UTF-8: V8 keeps two bytes for each character of a text with Cyrillic.
 */
export function createLedger() {
  const parts = Array.from({ length: partCount }, (): Part => ({
    packed: [],
    changed: new Map(),
  }));

  return {
    apply(rows: readonly FeedRow[]): void {
      for (const row of rows) {
        const part = parts[crc32(row.id) % partCount]!;
        part.changed.set(JSON.stringify(row.id), Buffer.from(writeLine(row)).toString("latin1"));
        if (part.changed.size >= waitingMost) pack(part);
      }
    },
    /**
     * All lines, packed in parts that can be joined; of a station that has changed the older ones may come before the
     * newest. Lines that come meanwhile may be among them.
     */
    async packed(): Promise<Buffer[]> {
      for (const part of parts) {
        if (part.changed.size === 0) continue;
        pack(part);
        await nextTurn();
      }
      return parts.flatMap(({ packed }) => packed);
    },
  };
}

/** Packs what has changed. A part with many pieces is left with one, of the newest line of each station. */
function pack({ packed, changed }: Part): void {
  if (packed.length >= piecesMost) {
    const before = packed.map((piece) => gunzipSync(piece).toString("latin1")).join("");
    const lines = new Map(before.split("\n").map((line) => [idIn(line), line]));
    for (const [id, line] of changed) lines.set(id, line);
    lines.delete("");
    packed.splice(0, piecesMost, zip(lines.values()));
  } else packed.push(zip(changed.values()));
  changed.clear();
}

/** The beginning of a line: the id, as JSON. */
const idIn = (line: string): string => /^\["(?:[^"\\]|\\.)*"/.exec(line)?.[0].slice(1) ?? "";

function zip(lines: Iterable<string>): Buffer {
  const text = Array.from(lines, (line) => `\n${line}`).join("");
  return ownCopy(gzipSync(Buffer.from(text, "latin1"), { level: 3 }));
}

type Line = [
  ...[id: string, lat: number, lon: number, brand: string, name: string, addr: string],
  ...[gradesSold: string, openingHours: string],
  ...[seq: number, at: number, removed: 0 | 1, state: StationState | null],
  ...[chance: number | null, into?: string | null, closed?: string],
];

function writeLine({ seq, at, removed, state, chance, merged_into, ...row }: FeedRow): string {
  const { id, lat, lon, brand, name, addr, grades_sold, opening_hours } = row;
  const facts = [id, lat, lon, brand, name, addr, grades_sold, opening_hours] as const;
  const stored = state === emptyState ? null : state;
  const line: Line = [...facts, seq, at, removed ? 1 : 0, stored, chance];
  if (merged_into || row.closed) line.push(merged_into ?? null, row.closed ?? "");
  return JSON.stringify(line);
}

function readLine(text: string): FeedRow {
  const [id, lat, lon, brand, name, addr, ...rest] = JSON.parse(text) as Line;
  const [grades_sold, opening_hours, seq, at, removed, state, chance, merged_into, closed] = rest;
  const facts = { id, lat, lon, brand, name, addr, grades_sold, opening_hours };
  const more = { ...(merged_into ? { merged_into } : {}), ...(closed ? { closed } : {}) };
  return readRow({ ...facts, ...more, seq, at, removed: removed === 1, state, chance });
}
