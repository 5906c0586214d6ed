import type pg from "pg";
import type { Config } from "#src/infrastructure/config.ts";
import { Connection } from "#src/infrastructure/pool.ts";
import { createHosts, directUrl } from "#src/infrastructure/postgres-hosts.ts";

/** For the operator, of a database that no release has migrated. */
export const noSchema = "this database has no schema yet: run the release role first";

/** `noSchema` where it applies, else null. Rejects while Postgres is away. */
export async function schemaFault(config: Config): Promise<string | null> {
  const client = new Connection({
    hosts: createHosts(directUrl(config)),
    connectionTimeoutMillis: config.acquireTimeoutMs,
    query_timeout: config.acquireTimeoutMs,
  });
  try {
    await client.connect();
    const found = await client.query("select to_regclass('knex_migrations') as migrations");
    const [row] = (found as pg.QueryResult<{ migrations: string | null }>).rows;
    return row?.migrations == null ? noSchema : null;
  } finally {
    await client.end().catch(() => undefined);
  }
}
