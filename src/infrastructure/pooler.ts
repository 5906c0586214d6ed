import pg from "pg";
import type { Config } from "#src/infrastructure/config.ts";
import { Connection } from "#src/infrastructure/pool.ts";
import { createHosts, directUrl } from "#src/infrastructure/postgres-hosts.ts";

/** The relation of the sessions behind a URL to its clients. */
type Sharing = "own" | "shared" | "no transactions";

/** Questions to each of two connections: a busy pooler may give one of them the same session a few times. */
const rounds = 5;

/**
 * The reason why the service cannot work through the pooler before Postgres (decisions 16.27), as a sentence for the
 * operator that names the setting; null when it can. Rejects while Postgres is away.
 */
export async function poolerFault(config: Config): Promise<string | null> {
  const { databaseUrl, databaseDirectUrl } = config;
  const direct = directUrl(config);
  const name = databaseDirectUrl === "" ? "DATABASE_URL" : "DATABASE_DIRECT_URL";
  if ((await sharingOf(direct, config)) !== "own")
    return `${name} leads to a pooler that shares sessions between clients (as PgBouncer with pool_mode = transaction does): set DATABASE_DIRECT_URL to the address of Postgres itself, or of a pooler with pool_mode = session`;
  if (direct === databaseUrl || (await sharingOf(databaseUrl, config)) !== "no transactions")
    return null;
  return "DATABASE_URL leads to a pooler that allows no transactions (PgBouncer with pool_mode = statement): set its pool_mode to transaction or session";
}

async function sharingOf(
  url: string,
  { acquireTimeoutMs }: Pick<Config, "acquireTimeoutMs">,
): Promise<Sharing> {
  const hosts = createHosts(url);
  const clients = [1, 2].map(
    () =>
      new Connection({
        hosts,
        application_name: "fuelmark looks for a pooler",
        connectionTimeoutMillis: acquireTimeoutMs,
        query_timeout: acquireTimeoutMs,
      }),
  );
  const [one, other] = clients as [Connection, Connection];
  try {
    await one.connect();
    await one.setUp({});
    if (!one.isShared) return "own";
    await other.connect();
    const [ours, theirs] = [new Set<number>(), new Set<number>()];
    for (let round = 0; round < rounds; round += 1) {
      ours.add(await sessionOf(one));
      theirs.add(await sessionOf(other));
    }
    if (await refusesBegin(other)) return "no transactions";
    const isOne = ours.size === 1 && theirs.size === 1 && !ours.has([...theirs][0]!);
    return isOne ? "own" : "shared";
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
}

async function sessionOf(client: Connection): Promise<number> {
  const found = await client.query("select pg_backend_pid() as pid");
  return (found as pg.QueryResult<{ pid: number }>).rows[0]!.pid;
}

async function refusesBegin(client: Connection): Promise<boolean> {
  try {
    await client.query("begin");
    await client.query("rollback");
    return false;
  } catch (error) {
    if (error instanceof pg.DatabaseError) return true;
    throw error;
  }
}
