import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";
import { versionFault, versionSql } from "#src/infrastructure/schema-fault.ts";
import { startPostgres, type PrivateServer } from "#demo/servers/postgres.ts";
import { startRedis } from "#demo/servers/redis.ts";

export interface Servers {
  databaseUrl: string;
  redisUrl: string;
  /** Resolves with a server's name when one of ours ends by itself. */
  lost: Promise<string>;
  /** Ends the servers of ours; given ones are left alone. */
  stop(): Promise<void>;
  /** Deletes the data of ours; only after `stop`. */
  remove(): void;
}

export interface StartOptions {
  /** The folder for the data of servers of ours. */
  dataDir: string;
  env: Record<string, string | undefined>;
  /** False in tests: faster, and a crash may lose everything. */
  durable: boolean;
  log: (line: string) => void;
}

/**
 * Provides a real Postgres and a real Redis: DATABASE_URL and REDIS_URL when they are given, private servers
 * otherwise. Throws with a sentence for the user when one cannot be had.
 */
export async function startServers({ dataDir, env, durable, log }: StartOptions): Promise<Servers> {
  mkdirSync(dataDir, { recursive: true });
  const [postgres, redis] = await Promise.allSettled([
    env.DATABASE_URL
      ? givenPostgres(env.DATABASE_URL)
      : startPostgres({ folder: join(dataDir, "postgres"), durable, log }),
    env.REDIS_URL
      ? givenRedis(env.REDIS_URL)
      : startRedis({ folder: join(dataDir, "redis"), durable, log }),
  ]);
  const started = [postgres, redis].flatMap((each) =>
    each.status === "fulfilled" ? [each.value] : [],
  );
  if (postgres.status === "rejected" || redis.status === "rejected") {
    await Promise.all(started.map((server) => server.stop()));
    throw postgres.status === "rejected"
      ? (postgres.reason as Error)
      : ((redis as PromiseRejectedResult).reason as Error);
  }
  return {
    databaseUrl: postgres.value.url,
    redisUrl: redis.value.url,
    lost: Promise.race([
      postgres.value.exited.then(() => "PostgreSQL"),
      redis.value.exited.then(() => "Redis"),
    ]),
    stop: async () => {
      await Promise.all(started.map((server) => server.stop()));
    },
    remove: () => {
      for (const server of started) server.remove();
    },
  };
}

type Given = Pick<PrivateServer, "url" | "exited" | "stop" | "remove">;

const given = (url: string): Given => ({
  url,
  exited: new Promise(() => undefined),
  stop: () => Promise.resolve(),
  remove: () => undefined,
});

async function givenPostgres(url: string): Promise<Given> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => undefined);
  let version;
  try {
    await client.connect();
    ({ version } = (await client.query<{ version: number }>(versionSql)).rows[0]!);
    await client.end();
  } catch (error) {
    throw unreachable("DATABASE_URL", "PostgreSQL", error);
  }
  const fault = versionFault(version);
  if (fault !== null) throw new Error(fault);
  return given(url);
}

async function givenRedis(url: string): Promise<Given> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    return given(url);
  } catch (error) {
    throw unreachable("REDIS_URL", "Redis", error);
  } finally {
    redis.disconnect();
  }
}

// The URL itself stays out of the sentence: it may hold a password.
const unreachable = (name: string, server: string, error: unknown): Error =>
  new Error(
    `${name} is set, but no ${server} answers there (${(error as Error).message}): start it, or unset ${name} to get a private one.`,
  );
