import knexFactory, { type Knex } from "knex";
import pg from "pg";
import { firstYearMs, lastYearMs } from "#src/domain/time.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { isNetworkFault } from "#src/infrastructure/faults.ts";
import { Pool } from "#src/infrastructure/pool.ts";
import { createHosts } from "#src/infrastructure/postgres-hosts.ts";

/** The database: knex, and the pool of connections that it shares with pipelined transactions. */
export type Db = Knex & { readonly pool: Pool };
export type Tx = Knex.Transaction;

// bigint columns hold mark ids, sequences and counts below 2^53; the default would give strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// `infinity` would be a number, and a time after year 9999 a Date that cannot be formatted: both become the limits.
const { TIMESTAMPTZ } = pg.types.builtins;
const toDate = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date | number;
pg.types.setTypeParser(TIMESTAMPTZ, (text) => {
  // Postgres knows later years than Date does.
  const ms = Number(toDate(text));
  return new Date(Number.isNaN(ms) ? lastYearMs : Math.min(Math.max(ms, firstYearMs), lastYearMs));
});
// A date is a calendar day, never local midnight.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

/**
 * Settings that our statements and parsers need, whatever defaults the database or the role has (decisions 21.26). An
 * administrator may still choose `search_path` and `default_transaction_read_only`.
 */
const reliedOn = {
  timezone: "UTC",
  default_transaction_isolation: "read committed",
  datestyle: "ISO, MDY",
  intervalstyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: 1,
  standard_conforming_strings: "on",
  array_nulls: "on",
  transform_null_equals: "off",
};

/** For imports and operators' commands, which may wait for the service's short locks, and read long tables. */
export const patience = { lockTimeoutMs: 30_000, queryTimeoutMs: 120_000, acquireTimeoutMs: 5000 };

/**
 * A pool of Postgres connections. Statements run in UTC with the tests' clock offset, and give up their locks after
 * `lockTimeoutMs`, so that a frozen process cannot stop the others. Behind a pooler this applies to transactions
 * (decisions 16.27).
 */
export function createDb(config: Config, name: string, poolMax = config.poolMax): Db {
  const pool = new Pool({
    hosts: createHosts(config.databaseUrl),
    // Not as `options` of the connection: a pooler refuses them, or leaves them out.
    settings: {
      ...reliedOn,
      "fuelmark.clock_offset_s": config.clockOffsetS,
      lock_timeout: config.lockTimeoutMs,
      idle_in_transaction_session_timeout: config.lockTimeoutMs,
      statement_timeout: config.queryTimeoutMs,
    },
    application_name: `fuelmark ${name}`,
    keepAlive: true,
    max: poolMax,
    idleTimeoutMillis: 30_000,
    waitMs: config.acquireTimeoutMs,
    // The server's own timeout cannot fire when the server is frozen.
    query_timeout: config.queryTimeoutMs + 1000,
    pipeline: true,
  });
  const knex = knexFactory({
    client: "pg",
    connectionPool: pool,
    // Otherwise an error's message, and so the log, would show the bound values, such as a driver's comment.
    compileSqlOnError: false,
    // Errors reach their callers; knex would also print each, past the log.
    log: { warn() {}, error() {} },
  });
  // knex does not close a pool that it was given, and pg's pool cannot be closed twice.
  let ending: Promise<void> | undefined;
  (knex.client as Knex.Client).destroy = () => (ending ??= pool.end());
  return Object.assign(knex, { pool });
}

/** Runs statements: the database, a transaction, or a pipelined one (`src/infrastructure/pipelined-transaction.ts`). */
export interface Statements {
  raw(
    sql: string,
    bindings: readonly Knex.RawBinding[],
    keptAs?: string,
  ): PromiseLike<{ rows: unknown[] }>;
}

/**
 * Rows of a raw statement. `?` are bindings; pass arrays as `?::text[]`. `keptAs` is a short name of a frequent
 * statement: the connection keeps its plan if possible, so the values that choose the partitions must be in its text.
 */
export async function rows<T>(
  db: Statements,
  sql: string,
  bindings: readonly unknown[] = [],
  keptAs?: string,
): Promise<T[]> {
  const result = await db.raw(sql, bindings as readonly Knex.RawBinding[], keptAs);
  return result.rows as T[];
}

/**
 * SQL of an upsert that adds to the bigint columns of its row `row`. Counts stop at about 10^15: a count beyond its
 * type would fail the statement with all its rows.
 */
export const addTo = (row: string, ...columns: readonly string[]): string =>
  columns
    .map((name) => `${name} = least(${row}.${name}, 1000000000000000) + excluded.${name}`)
    .join();

/** Runs `work` in one transaction; commits when it resolves, rolls back when it throws. */
export async function inTransaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  db.pool.refuseWhileShut();
  return db.transaction(work);
}

// 08 connection, 53 resources, 55P03 lock timeout, 57 shutdown and cancel, 25P03 idle in transaction, 40 retry; of an
// unexpected session: 26000 and 42P05 behind a pooler, 25006 at a standby.
const states = /^((08|53|57|40)...|55P03|25P03|26000|42P05|25006)$/;

/**
 * True when `error` means that Postgres is away or gave up, not that the statement was wrong. Decided by SQLSTATE, code
 * and class, never by the message, so that our own faults stay faults.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isNetworkFault(error)) return true;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && states.test(code);
}

/** True when Postgres ended a transaction because no statement came for `lockTimeoutMs`. It is rolled back for certain. */
export const isIdleTooLong = (error: unknown): boolean =>
  (error as { code?: unknown }).code === "25P03";

/**
 * True when Postgres ended a statement or a transaction because it took too long, or because somebody cancelled it:
 * 57014 (statement timeout, cancel), 25P03 (idle in transaction). Counts as `isUnavailable` too.
 */
export const isBrokenOff = (error: unknown): boolean =>
  isIdleTooLong(error) || (error as { code?: unknown }).code === "57014";
