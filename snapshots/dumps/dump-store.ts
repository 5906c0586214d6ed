import type { Redis } from "#src/infrastructure/redis.ts";
import type { Dump, DumpHead } from "#snapshots/dumps/dump.ts";
import { loadVersion, saveVersion, type Version } from "#snapshots/dumps/versioned-store.ts";

/** The newest dump of one set in Redis, for all processes. Every call rejects while Redis is away. */
export interface DumpStore {
  /** Stores a dump unless a newer one is there; false when it is. Wakes the web processes. */
  save(dump: Dump): Promise<boolean>;
  head(): Promise<DumpHead | null>;
  load(): Promise<Dump | null>;
  /** The channel on which stored dumps are announced, each by the name of its set. */
  channel: string;
}

/** Increase it when the fields or the JSON change, so that old and new processes do not share dumps. */
const format = 1;

/**
 * `name`: of the set (see `setName`), "" for the whole country; dumps are announced by it. `keptMs`: a dump that is not
 * renewed expires, so that one with too high a number cannot stay for ever.
 */
export function createDumpStore(
  redis: Redis,
  prefix: string,
  keptMs: number,
  name = "",
): DumpStore {
  const key = name === "" ? `${prefix}:dump:${format}` : `${prefix}:dump:${format}:${name}`;
  const channel = `${prefix}:dumps`;
  const shelf = { key, channel, name, keptMs, silentMs: keptMs };
  return {
    channel,
    save: (dump) => {
      const { count, sum, gzip, br } = dump;
      return saveVersion(redis, shelf, dump, { count, sum, gzip, br });
    },
    head: async () => {
      const found = await loadVersion(redis, key, ["count", "sum"]);
      return found && headOf(found);
    },
    load: async () => {
      const found = await loadVersion(redis, key, ["count", "sum", "gzip", "br"]);
      return found && { ...headOf(found), gzip: found.fields[2]!, br: found.fields[3]! };
    },
  };
}

function headOf({ fields, ...version }: Version & { fields: Buffer[] }): DumpHead {
  return { ...version, count: Number(fields[0]), sum: String(fields[1]) };
}
