import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { release } from "#demo/release.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { type Country, openCountry } from "#test/flow/country.ts";
import { addPartner, type OtherPartner } from "#test/flow/more-partners.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { createFakeClock, type FakeClock, findFaketime } from "#test/harness/faketime.ts";
import { usualPatience } from "#test/harness/instance.ts";
import { hold } from "#test/harness/leaks.ts";
import { type RoleProcess, startProcess, startRoleProcess } from "#test/harness/processes.ts";
import { readProcfile } from "#demo/roles.ts";
import { type OwnServer, startPrivatePostgres, startPrivateRedis } from "#test/harness/servers.ts";
import { startTcpProxy, type TcpProxy } from "#test/harness/tcp-proxy.ts";
import { openReceivers, type Receivers } from "#test/soak/receivers.ts";

/** One process of a role, with its own way to each server, and its own clock. */
export interface Member {
  /** `web1`, `marks2`, …; of these two the first is what the role is called. */
  name: string;
  role: string;
  postgres: TcpProxy;
  redis: TcpProxy;
  /** null where libfaketime is missing. */
  clock: FakeClock | null;
  process(): RoleProcess;
  /** The name of the process since its last start: what it knows ends with it. */
  life(): string;
  kill9(): Promise<void>;
  /** Whether it runs no more, whoever ended it. */
  hasEnded(): boolean;
  /** Starts it again, on the same port, and does not wait until it is ready; ends one that still runs. */
  restart(): Promise<void>;
}

export interface SoakStage {
  country: Country;
  config: Config;
  /** The servers' own addresses, past all proxies: what the operator uses. */
  env: Record<string, string>;
  postgres: OwnServer;
  redis: OwnServer;
  members: Member[];
  webs: Member[];
  /** A partner with the usual limits. */
  limited: OtherPartner;
  /** With which an operator signs in to the console. */
  credentials: { name: string; password: string };
  receivers: Receivers;
  /** The mount that holds the servers' data, small enough to be filled; null where nothing can be mounted. */
  disk: string | null;
  /** Why some faults cannot be had here, for people. */
  missing: string[];
}

export const soakStations = 120;

const cast = { web: 3, marks: 2, snapshots: 1, upkeep: 1, webhooks: 1, imports: 1, clock: 2 };
const diskMb = 1536;
const settings = {
  NEW_REPORTERS_DAILY: "1000000",
  MASS_NO_LIMIT: "1000000",
  // A mirror that hears nothing notices it soon.
  STREAM_HEARTBEAT_MS: "1000",
  STREAMS_PER_KEY: "100",
  // Each network is somebody else.
  TRUSTED_PROXIES: "127.0.0.1",
  SIGN_INS_PER_MINUTE: "1000",
  WEBHOOK_HTTP: "true",
  WEBHOOK_NETWORKS: "127.0.0.1",
  WEBHOOK_ENDPOINTS: "100",
  WEBHOOK_STATIONS_GAP_MS: "1000",
  WEBHOOK_TIMEOUT_MS: "3000",
  // Fewer than the endpoints that a fault spoils.
  WEBHOOK_CONCURRENCY: "8",
  FEED_HTTP: "true",
  FEED_NETWORKS: "127.0.0.1",
};

/** Starts servers and all roles. Whoever calls it releases what is held (`releaseHeld`). */
export async function openSoakStage(
  folder: string,
  given: Record<string, string>,
): Promise<SoakStage> {
  const missing: string[] = [];
  const mounted = mountDisk(folder);
  process.env["TEST_DATA"] = folder;
  const [postgres, redis] = await Promise.all([
    startPrivatePostgres({ durable: true }),
    startPrivateRedis({ durable: true }),
  ]);
  // Where root may not use the folder, Postgres lies elsewhere.
  const isThere = readdirSync(folder).some((name) => existsSync(join(folder, name, "data")));
  const disk = mounted && isThere ? folder : null;
  if (disk === null) missing.push("full disks: no small file system can be mounted here");
  const hasClocks = (await findFaketime()) !== null;
  if (!hasClocks) missing.push("wrong clocks: libfaketime is missing");
  const env: Record<string, string> = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    REDIS_PREFIX: "{soak}",
    REPORTER_PEPPER: "pepper of the tests",
    LOG_LEVEL: "info",
    HOST: "127.0.0.1",
    PORT: "0",
    ...usualPatience,
    ...settings,
    ...given,
  };
  await release(env);
  const config = loadConfig(env);
  const country = await openCountry({ ...config, acquireTimeoutMs: 20_000 }, soakStations);
  hold("connections to the database", () => country.close());
  await country.db("keys").update({ mass_no_limit: 1_000_000 });
  const names = Object.entries(cast).flatMap(([role, count]) =>
    Array.from({ length: count }, (_, n) => ({ role, name: `${role}${n + 1}` })),
  );
  const members = await Promise.all(
    names.map((one) => openMember({ ...one, env, hasClock: hasClocks })),
  );
  const webs = members.filter(({ role }) => role === "web");
  const { defaultRpm: rpm, defaultDaily: daily } = config;
  const limited = await addPartner(country, { rpm, daily }, "A partner with usual limits");
  const credentials = { name: "olga", password: testPassword };
  await addOperator(country.db, credentials.name);
  const receivers = await openReceivers({ country, env, webs });
  return {
    ...{ country, config, env, postgres, redis, members, webs, limited, credentials },
    ...{ receivers, disk, missing },
  };
}

/** Whether every process runs, and each web process is ready with nothing degraded but duties, which a busy machine delays. */
export async function isWell({ members, webs }: SoakStage): Promise<boolean> {
  const readiness = await Promise.all(
    webs.map((web) => {
      const signal = AbortSignal.timeout(2000);
      return fetch(`${web.process().baseUrl}/readyz`, { signal })
        .then(async (answer) => (await answer.json()) as { ready: boolean; degraded: string[] })
        .then(
          ({ ready, degraded }) => ready && degraded.every((name) => name === "duties"),
          () => false,
        );
    }),
  );
  return readiness.every(Boolean) && members.every((member) => !member.hasEnded());
}

/** Puts a small file system under the servers' data; false where that is not allowed. */
function mountDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    const size = `size=${diskMb}m,mode=755`;
    execFileSync("mount", ["-t", "tmpfs", "-o", size, "soak", resolve(folder)], { stdio: "pipe" });
  } catch {
    return false;
  }
  hold(`mount ${folder}`, () => {
    execFileSync("umount", ["-l", resolve(folder)], { stdio: "pipe" });
    rmSync(folder, { recursive: true, force: true });
  });
  return true;
}

interface Wanted {
  name: string;
  role: string;
  env: Record<string, string>;
  hasClock: boolean;
}

async function openMember({ name, role, env, hasClock }: Wanted): Promise<Member> {
  const [postgres, redis] = await Promise.all(
    ["DATABASE_URL", "REDIS_URL"].map((url) => startTcpProxy(Number(new URL(env[url]!).port))),
  );
  const clock = hasClock ? await createFakeClock() : null;
  const through = (url: string, { port }: TcpProxy): string => {
    const changed = new URL(url);
    changed.port = String(port);
    return changed.href;
  };
  const own: Record<string, string> = {
    ...env,
    DATABASE_URL: through(env["DATABASE_URL"]!, postgres!),
    REDIS_URL: through(env["REDIS_URL"]!, redis!),
    ...clock?.env,
    // To read the file at each look at the clock would cost ten processes half of a small machine.
    ...(clock === null ? {} : { FAKETIME_NO_CACHE: "0", FAKETIME_CACHE_DURATION: "1" }),
  };
  let hasEnded = false;
  const follow = (started: RoleProcess): RoleProcess => {
    hasEnded = false;
    void started.exited.then(() => (hasEnded ||= started === running));
    return started;
  };
  let running = follow(await startRoleProcess(role, own));
  let lives = 1;
  const port = role === "web" ? new URL(running.baseUrl).port : "0";
  return {
    name,
    role,
    postgres: postgres!,
    redis: redis!,
    clock,
    process: () => running,
    life: () => `${name}#${lives}`,
    kill9: () => running.kill9(),
    hasEnded: () => hasEnded,
    restart: async () => {
      await running.kill9();
      lives += 1;
      running = follow(await startProcess(role, readProcfile().get(role)!, { ...own, PORT: port }));
    },
  };
}
