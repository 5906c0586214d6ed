import type pg from "pg";
import { migrations } from "#migrations/list.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { Connection } from "#src/infrastructure/pool.ts";
import { createHosts, directUrl } from "#src/infrastructure/postgres-hosts.ts";

/** For the operator, of a database that no release has migrated. */
export const noSchema = "this database has no schema yet: run the release role first";

/** The oldest Postgres with all that statements ask for, such as the version of a database's collation. */
export const oldestPostgres = 15;
export const versionSql = "select current_setting('server_version_num')::int as version";

/** What is wrong with a Postgres of this `server_version_num`, for the operator; null for one that is new enough. */
export const versionFault = (version: number): string | null =>
  version >= 10_000 * oldestPostgres
    ? null
    : `Fuelmark needs Postgres ${oldestPostgres} or newer, and DATABASE_URL leads to ${Math.floor(version / 10_000)}`;

/**
 * That Postgres is too old, `noSchema`, or what is missing of this version's schema; null when nothing is. That of a newer
 * version has more, which is no fault: going back is allowed. Rejects while Postgres is away.
 */
export async function schemaFault(config: Config): Promise<string | null> {
  const client = new Connection({
    hosts: createHosts(directUrl(config)),
    connectionTimeoutMillis: config.acquireTimeoutMs,
    query_timeout: config.acquireTimeoutMs,
  });
  try {
    await client.connect();
    const found = await client.query(`${versionSql}, to_regclass('knex_migrations') as migrations`);
    const [row] = (found as pg.QueryResult<{ version: number; migrations: string | null }>).rows;
    const fault = versionFault(row!.version);
    if (fault !== null || row!.migrations === null) return fault ?? noSchema;
    const { rows } = (await client.query("select name from knex_migrations")) as pg.QueryResult<{
      name: string;
    }>;
    const applied = new Set(rows.map(({ name }) => name));
    const missing = Object.keys(migrations).filter((name) => !applied.has(name));
    return missing.length === 0
      ? null
      : `this database lacks ${missing.join(", ")}: run the release role of this version first`;
  } finally {
    await client.end().catch(() => undefined);
  }
}
