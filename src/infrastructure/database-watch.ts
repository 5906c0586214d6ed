import type { Resources } from "#src/infrastructure/resources.ts";
import type { Condition } from "#src/infrastructure/parts.ts";
import { minuteMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { createPolled } from "#src/infrastructure/polled.ts";

/** Reasons for refused writes, by SQLSTATE. */
const readOnly = "the database is read-only";
const reasons: Readonly<Record<string, string>> = {
  "25006": readOnly,
  "53100": "the disk of the database is full",
};
/** A refusal is forgotten after this time: without writes nothing would show that they are taken again. */
const believedMs = minuteMs;
/** A shorter refusal may be a failover. */
const steadyMs = 10_000;
const pollsBetween = 5;

const lookSql = `select current_setting('transaction_read_only')::boolean as "isReadOnly",
    (select is_doubted from database_identity) as "isDoubted",
    datcollversion as recorded, pg_database_collation_actual_version(oid) as actual
  from pg_database where datname = current_database()`;
interface DatabaseState {
  isReadOnly: boolean;
  isDoubted: boolean;
  recorded: string | null;
  actual: string | null;
}

/**
 * Watches whether the database takes writes, and whether it sorts text as when its indexes were made (decisions 21.24,
 * 21.27). It never writes to the database. A process that is refused a write says so in Redis, and all processes
 * believe it. `onCollation` is called once for other versions of the collation; if it rejects, it is called again.
 */
export function createDatabaseWatch(
  deps: Omit<Resources, "clock">,
  onCollation: (versions: string) => Promise<void> = () => Promise.resolve(),
) {
  const { config, log, db, redis } = deps;
  const key = `${config.redisPrefix}:writes-refused`;
  let own: { reason: string; at: number } | null = null;
  let others: string | null = null;
  /** The refusal that has been logged; `since` by the monotonic clock. */
  let refused: { reason: string; since: number } | null = null;
  let isDoubted = false;
  let collation: string | null = null;
  let told: string | null = null;

  const judge = (): void => {
    const now = performance.now();
    const reason = own !== null && now - own.at < believedMs ? own.reason : others;
    if (reason !== null && refused === null)
      log.error(
        { reason },
        "the database takes no writes, marks are refused; will say when it does",
      );
    if (reason === null && refused !== null) log.info("the database takes writes again");
    refused = reason === null ? null : { reason, since: refused?.since ?? now };
  };
  const note = (reason: string): void => {
    own = { reason, at: performance.now() };
    redis.set(key, reason, "PX", believedMs).catch(() => undefined);
    judge();
  };
  const wrote = (): void => {
    if (refused === null) return;
    own = others = null;
    redis.del(key).catch(() => undefined);
    judge();
  };
  db.pool.onFault = (code) => {
    const reason = reasons[code];
    // Once a second is enough for all processes.
    if (reason !== undefined && (own === null || performance.now() - own.at > 1000)) note(reason);
  };

  const look = async (): Promise<void> => {
    others = await redis.get(key).catch(() => null);
    const [found] = await rows<DatabaseState>(db, lookSql).catch(() => []);
    if (found?.isReadOnly === true) note(readOnly);
    else if (found !== undefined && refused?.reason === readOnly) wrote();
    judge();
    if (found === undefined) return;
    ({ isDoubted } = found);
    const { recorded, actual } = found;
    const versions = recorded === null || recorded === actual ? null : `${recorded}, now ${actual}`;
    if (versions !== null && versions !== collation)
      log.error({ reason: versions }, "text sorts otherwise than its indexes: build them anew");
    if (versions === null && collation !== null) log.info("text sorts as its indexes again");
    collation = versions;
    if (versions === null || versions === told) return;
    told = await onCollation(versions).then(
      () => versions,
      () => null,
    );
  };

  const { start, stop } = createPolled({ everyMs: pollsBetween * config.pollMs, look });
  return {
    ...{ start, stop },
    /** A write was taken. */
    wrote,
    /** The reason of refused writes; null when writes are taken. */
    refusal: (): string | null => refused?.reason ?? null,
    /** The same, after it has lasted for longer than a failover. */
    lastingRefusal: (): string | null =>
      refused !== null && performance.now() - refused.since > steadyMs ? refused.reason : null,
    /** 1 when the collation differs from that of the indexes. */
    hasOtherCollation: (): number => Number(collation !== null),
    /** For `/readyz`. Never critical, because reads go on. */
    condition(): Condition {
      const faults = [
        ...(refused === null
          ? []
          : [{ code: refused.reason === readOnly ? "read-only" : "disk-full" } as const]),
        ...(isDoubted ? [{ code: "database-doubted" } as const] : []),
        ...(collation === null ? [] : [{ code: "collation", versions: collation } as const]),
      ];
      const ok = faults.length === 0;
      return { ok, says: ok ? [{ code: "writable" }] : faults };
    },
  };
}
