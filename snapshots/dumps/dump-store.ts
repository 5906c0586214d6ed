import type { Redis } from "#src/infrastructure/redis.ts";
import type { Dump, DumpHead } from "#snapshots/dumps/dump.ts";
import { loadVersion, saveVersion } from "#snapshots/dumps/versioned-store.ts";

/** The newest dump of one set in Redis, for all processes. Every call rejects while Redis is away. */
export interface DumpStore {
  /** Stores a dump unless a newer one is there; false when it is. Wakes the web processes. */
  save(dump: Dump): Promise<boolean>;
  head(): Promise<DumpHead | null>;
  load(): Promise<Dump | null>;
  /** The channel on which stored dumps are announced, each by the name of its set. */
  channel: string;
}

/** Raise it when the fields or the JSON change, so that old and new processes keep apart. */
const format = 1;

/**
 * `name`: of the set (see `setName`), "" for the whole country; dumps are announced by it. `keptMs`: a dump that nobody renews goes, so that one with too high a number cannot stay
 * for ever.
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
  const headFields = ["count", "sum"];
  return {
    channel,
    save: (dump) => {
      const { count, sum, gzip, br } = dump;
      return saveVersion(redis, shelf, dump, { count, sum, gzip, br });
    },
    head: async () => headOf(await loadVersion(redis, key, headFields)),
    load: async () => {
      const found = await loadVersion(redis, key, [...headFields, "gzip", "br"]);
      const head = headOf(found);
      const [gzip, br] = found?.fields.slice(2) ?? [];
      return head !== null && gzip && br ? { ...head, gzip, br } : null;
    },
  };
}

function headOf(found: Awaited<ReturnType<typeof loadVersion>>): DumpHead | null {
  if (found === null) return null;
  const { seq, asOfMs, builtAtMs, fields } = found;
  return { seq, asOfMs, builtAtMs, count: Number(fields[0]), sum: String(fields[1]) };
}
