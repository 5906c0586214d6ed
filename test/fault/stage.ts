import { release } from "#demo/release.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { type Client, createClient } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import type { FakeClock } from "#test/harness/faketime.ts";
import { createTestInstance, usualPatience } from "#test/harness/instance.ts";
import { type Bouncer, type PoolMode, startBouncer } from "#test/harness/pgbouncer.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
import { type Standby, startStandby } from "#test/harness/standby.ts";
import { type OwnServer, startPrivatePostgres, startPrivateRedis } from "#test/harness/servers.ts";

/** Two web processes and marks workers over servers of which some belong to the test alone. */
export interface Stage {
  country: Country;
  config: Config;
  env: Record<string, string>;
  webs: RoleProcess[];
  clients: Client[];
  workers: RoleProcess[];
  redis: OwnServer | null;
  postgres: OwnServer | null;
  bouncer: Bouncer | null;
  standby: Standby | null;
  startWorker(): Promise<RoleProcess>;
  /** Starts a killed web process again on its port. */
  restartWeb(index: number): Promise<void>;
  close(): Promise<void>;
}

export const stationCount = 40;

// A test would show nothing if the caps refused its marks.
const caps = { NEW_REPORTERS_DAILY: "1000000", MASS_NO_LIMIT: "1000000" };

/** Starts the roles; `own` names the servers that the test may harm. */
export async function openStage(options: {
  own?: "redis" | "postgres";
  /** The clock of the own Postgres. */
  postgresClock?: FakeClock;
  webs?: number;
  workers: number;
  /** With a PgBouncer before the database, in this mode. */
  pooler?: PoolMode;
  /** With a standby of the own Postgres, as the second host of the URL. Both keep what they have committed. */
  standby?: boolean;
  /** Further settings by their environment names. */
  settings?: Record<string, string>;
}): Promise<Stage> {
  const closing: (() => Promise<void>)[] = [];
  const later = <T>(made: T, end: () => Promise<void>): T => {
    closing.unshift(end);
    return made;
  };
  const redis = options.own === "redis" ? await startPrivateRedis() : null;
  if (redis !== null) later(redis, () => redis.drop());
  const postgres =
    options.own === "postgres"
      ? await startPrivatePostgres({
          durable: options.standby ?? false,
          ...(options.postgresClock && { env: options.postgresClock.env }),
        })
      : null;
  if (postgres !== null) later(postgres, () => postgres.drop());
  const instance = await createTestInstance({ ...usualPatience, ...caps, ...options.settings });
  later(instance, () => instance.drop());
  const databaseUrl = postgres?.url ?? instance.databaseUrl;
  const { pooler } = options;
  const bouncer = pooler === undefined ? null : await startBouncer(databaseUrl, pooler);
  if (bouncer !== null) later(bouncer, () => bouncer.drop());
  const env: Record<string, string> = {
    ...instance.env,
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
    DATABASE_URL: bouncer?.url ?? databaseUrl,
    ...(bouncer === null ? {} : { DATABASE_DIRECT_URL: databaseUrl }),
  };
  if (postgres !== null) await release(env);
  const standby = options.standby === true ? await startStandby(databaseUrl) : null;
  if (standby !== null) {
    later(standby, () => standby.drop());
    const [first, second] = [databaseUrl, standby.url].map((url) => new URL(url).host);
    env["DATABASE_URL"] = databaseUrl.replace(first!, `${first},${second}`);
  }
  const config = loadConfig(env);
  const country = await openCountry(config, stationCount);
  later(country, () => country.close());
  await country.db("keys").update({ mass_no_limit: 1_000_000 });
  const webs: RoleProcess[] = [];
  const workers: RoleProcess[] = [];
  later(webs, async () => {
    await Promise.all([...webs, ...workers].map((role) => role.stop().catch(() => role.kill9())));
  });
  const startWorker = async (): Promise<RoleProcess> => {
    const worker = await startRoleProcess("marks", env);
    workers.push(worker);
    return worker;
  };
  const [some] = await Promise.all([
    Promise.all(Array.from({ length: options.webs ?? 2 }, () => startRoleProcess("web", env))),
    Promise.all(Array.from({ length: options.workers }, startWorker)),
  ]);
  webs.push(...some);
  return {
    country,
    config,
    env,
    webs,
    clients: webs.map((web) => createClient(web.baseUrl, country.secret)),
    workers,
    redis,
    postgres,
    bouncer,
    standby,
    startWorker,
    restartWeb: async (index) => {
      const port = new URL(webs[index]!.baseUrl).port;
      webs[index] = await startRoleProcess("web", { ...env, PORT: port });
    },
    close: async () => {
      for (const end of closing) await end();
    },
  };
}
