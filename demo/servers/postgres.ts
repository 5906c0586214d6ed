import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { run } from "#demo/servers/command.ts";
import type { Identity } from "#demo/servers/identity.ts";
import { findPlace, type Place } from "#demo/servers/place.ts";
import { serverPassword } from "#demo/servers/password.ts";
import { somePort } from "#demo/servers/port.ts";
import {
  findPostgres,
  noPostgres,
  reachable,
  type PostgresBinaries,
} from "#demo/servers/postgres-binaries.ts";
import {
  endServerOf,
  signalQuietly,
  spawnServer,
  type ServerProcess,
} from "#demo/servers/process.ts";

export interface PrivateServer {
  url: string;
  port: number;
  pid: number;
  /** Resolves when the server is gone, whoever ended it. */
  exited: Promise<void>;
  /** Ends it in order; resolves when it is gone. */
  stop(): Promise<void>;
  /** Deletes what it has stored, so that it starts empty at the same URL; only after it has ended. */
  wipe(): void;
  /** Deletes its folder; only after it has ended. */
  remove(): void;
}

export interface ServerOptions {
  /** The folder for this server alone; it may be put elsewhere when root cannot use it. */
  folder: string;
  /** False in tests: no fsync, a crash may lose everything. */
  durable: boolean;
  log: (line: string) => void;
  /** What its process gets beside our own environment. */
  env?: Record<string, string>;
  /** Further settings of a Redis. */
  settings?: Record<string, string>;
  /** A port it must have; a free one otherwise. */
  port?: number;
}

const user = "fuelmark";
const database = "fuelmark";

/**
 * Starts a Postgres of our own on 127.0.0.1 with its data in `folder`, after ending one that an earlier,
 * killed run left there. Throws with a sentence for the user when there is none to start.
 */
export async function startPostgres(options: ServerOptions): Promise<PrivateServer> {
  const place = await findPlace(options.folder);
  const data = join(place.folder, "data");
  const logFile = join(options.folder, "postgres.log");
  await endLeftover(data);
  const binaries = await initialise(place, data, options);
  const { password } = serverPassword(place.folder);
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await somePort());
    const server = spawnServer(join(binaries.bin, "postgres"), serverArgs(data, port, options), {
      identity: place.identity,
      cwd: place.folder,
      logFile,
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    const url = `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
    if (await answers(server, url, options.log)) return privateServer(server, { url, port, place });
    await server.exited;
    // Somebody may have taken the port between the look and the start.
    if (attempt === 3) throw new Error(`PostgreSQL does not start: see ${logFile}`);
  }
}

function privateServer(
  server: ServerProcess,
  { url, port, place }: { url: string; port: number; place: Place },
): PrivateServer {
  return {
    url,
    port,
    pid: server.pid,
    exited: server.exited,
    stop: async () => {
      for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
        if (server.hasExited()) return;
        signalQuietly(server.pid, "SIGCONT");
        signalQuietly(server.pid, signal);
        await Promise.race([server.exited, sleep(3000, undefined, { ref: false })]);
      }
    },
    wipe: () => rmSync(join(place.folder, "data"), { recursive: true, force: true }),
    remove: () => rmSync(place.folder, { recursive: true, force: true }),
  };
}

/** Makes the data folder when there is none; answers the binaries that fit it. */
async function initialise(
  place: Place,
  data: string,
  { durable, log }: ServerOptions,
): Promise<PostgresBinaries> {
  const found = await findPostgres();
  const version = join(data, "PG_VERSION");
  if (existsSync(version)) {
    const major = Number(readFileSync(version, "utf8"));
    for (const one of found.filter((each) => each.major === major)) {
      const usable = await reachable(one, place.identity, place.copies);
      if (usable !== null) return usable;
    }
    throw new Error(
      `${data} was made by PostgreSQL ${major}, which is not here any more: install it again, or remove that folder to begin anew.`,
    );
  }
  const faults: string[] = [];
  for (const one of found) {
    const usable = await reachable(one, place.identity, place.copies);
    if (usable === null) continue;
    log(`Creating a PostgreSQL ${usable.major} database in ${data}`);
    const fault = await initdb(usable, place, data, durable ? "scram-sha-256" : "md5");
    if (fault === null) return usable;
    faults.push(`${usable.bin}: ${fault}`);
  }
  throw new Error([noPostgres, ...faults].join("\n"));
}

// The first that the version and the system know; all compare bytes and fold Cyrillic but the last.
const locales = [
  ["--locale=C.UTF-8"],
  ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
  ["--locale=en_US.UTF-8"],
  ["--locale=C"],
];

/** Answers null, or what went wrong. Works beside the final folder, so that a killed run leaves nothing half made. */
async function initdb(
  binaries: PostgresBinaries,
  { folder, identity }: Place,
  data: string,
  auth: string,
): Promise<string | null> {
  const { file: passwordFile } = serverPassword(folder);
  own(passwordFile, identity);
  const making = join(folder, "making");
  let fault = "";
  for (const locale of locales) {
    rmSync(making, { recursive: true, force: true });
    mkdirSync(making, { mode: 0o700 });
    own(making, identity);
    const args = ["-D", making, "-U", user, "-E", "UTF8", "-A", auth, "--no-sync"];
    const result = await run(
      join(binaries.bin, "initdb"),
      [...args, `--pwfile=${passwordFile}`, ...locale],
      { identity, cwd: folder, timeoutMs: 120_000 },
    );
    if (result.ok) {
      renameSync(making, data);
      return null;
    }
    fault ||= result.stderr;
  }
  return fault;
}

function own(path: string, identity: Identity): void {
  if (identity.owner !== null) chownSync(path, identity.owner.uid, identity.owner.gid);
}

function serverArgs(data: string, port: number, { durable }: ServerOptions): string[] {
  const settings: Record<string, string | number> = {
    port,
    listen_addresses: "127.0.0.1",
    max_connections: 200,
    timezone: "UTC",
    log_timezone: "UTC",
    // A query that is asked once or twice is sooner done than compiled.
    ...(durable
      ? {}
      : { fsync: "off", synchronous_commit: "off", full_page_writes: "off", jit: "off" }),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["-D", data, "-k", "", ...flags];
}

const startMs = 60_000;
/** The code of "the database system is starting up". */
const startingUp = "57P03";

async function answers(
  server: ServerProcess,
  url: string,
  log: (line: string) => void,
): Promise<boolean> {
  const admin = url.replace(/\/[^/]*$/, "/postgres");
  const tellAt = Date.now() + 5000;
  let until = Date.now() + startMs;
  for (let isTold = false; Date.now() < until && !server.hasExited(); await sleep(50)) {
    const fault = await ensureDatabase(admin);
    if (fault === null) return true;
    if (fault.code !== startingUp) continue;
    // It reads its log after a crash. Ended now, it would begin anew.
    until = Date.now() + startMs;
    if (isTold || Date.now() < tellAt) continue;
    log("PostgreSQL is reading its log after a crash …");
    isTold = true;
  }
  signalQuietly(server.pid, "SIGKILL");
  return false;
}

/** Null when the database is there; else why it cannot be asked for. */
async function ensureDatabase(adminUrl: string): Promise<{ code?: string } | null> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 2000 });
  // A connection that the dying server cuts must not end this process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    const found = await client.query("select 1 from pg_database where datname = $1", [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
    return null;
  } catch (error) {
    return error as { code?: string };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Ends a server that a killed run left in `folder` and deletes its data. */
export async function clearPostgres(folder: string): Promise<void> {
  const place = await findPlace(folder);
  await endLeftover(join(place.folder, "data"));
  rmSync(place.folder, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}

async function endLeftover(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
  await endServerOf(data, pid, ["SIGINT", "SIGQUIT"]);
}
