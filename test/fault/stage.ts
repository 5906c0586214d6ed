import { release } from "#demo/release.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { type Client, createClient } from "#test/flow/client.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { createTestInstance, usualPatience } from "#test/harness/instance.ts";
import { type RoleProcess, startRoleProcess } from "#test/harness/processes.ts";
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
  webs?: number;
  workers: number;
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
  const postgres = options.own === "postgres" ? await startPrivatePostgres() : null;
  if (postgres !== null) later(postgres, () => postgres.drop());
  const instance = await createTestInstance({ ...usualPatience, ...caps, ...options.settings });
  later(instance, () => instance.drop());
  const env = {
    ...instance.env,
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
    ...(postgres === null ? {} : { DATABASE_URL: postgres.url }),
  };
  if (postgres !== null) await release(env);
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
