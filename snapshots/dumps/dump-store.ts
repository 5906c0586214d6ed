import type { Redis } from "#src/infrastructure/redis.ts";
import type { Dump, DumpHead } from "#snapshots/dumps/dump.ts";
import {
  type StoredSnapshot,
  loadVersion,
  saveVersion,
  type SnapshotPlace,
} from "#snapshots/dumps/versioned-store.ts";

export type DumpStore = ReturnType<typeof createDumpStore>;

/** Increase it when the fields or the JSON change, so that old and new processes do not share dumps. */
const format = 5;

/**
 * The newest dump of one set in Redis, for all processes. Every call rejects while Redis is away. `name`: the set's
 * (see `setName`), "" for the whole country. `keptMs`: a dump that is not renewed expires, so that one with too high a
 * number cannot stay for ever.
 */
export function createDumpStore(redis: Redis, prefix: string, keptMs: number, name = "") {
  const key = name === "" ? `${prefix}:dump:${format}` : `${prefix}:dump:${format}:${name}`;
  const channel = `${prefix}:dumps`;
  const kind = name === "" ? "dump" : "set";
  const place: SnapshotPlace = { key, kind, channel, name, keptMs, silentMs: keptMs };
  return {
    /** The channel on which stored dumps are announced, each by the name of its set. */
    channel,
    /** Stores a dump unless a newer one is there; false when it is. Wakes the web processes. */
    save(dump: Dump): Promise<boolean> {
      const { count, sum, gzip, br } = dump;
      return saveVersion(redis, place, dump, { count, sum, gzip, br });
    },
    async head(): Promise<DumpHead | null> {
      const found = await loadVersion(redis, place, ["count", "sum"]);
      return found && headOf(found);
    },
    async load(): Promise<Dump | null> {
      const found = await loadVersion(redis, place, ["count", "sum", "gzip", "br"]);
      return found && { ...headOf(found), gzip: found.fields[2]!, br: found.fields[3]! };
    },
  };
}

function headOf({ version, fields }: StoredSnapshot): DumpHead {
  return { ...version, count: Number(fields[0]), sum: String(fields[1]) };
}
