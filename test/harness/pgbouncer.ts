import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { run } from "#demo/servers/command.ts";
import { librariesOf, unpackPackages } from "#demo/servers/debian.ts";
import { findPlace, type Place } from "#demo/servers/place.ts";
import { somePort } from "#demo/servers/port.ts";
import { signalQuietly, spawnServer, type ServerProcess } from "#demo/servers/process.ts";
import { hold } from "#test/harness/leaks.ts";
import { provided } from "#test/harness/provided.ts";

export type PoolMode = "session" | "transaction" | "statement";

/** A PgBouncer before the database of a test. The URL stays the same. */
export interface Bouncer {
  url: string;
  kill9(): Promise<void>;
  restart(): Promise<void>;
  drop(): Promise<void>;
}

interface Binary {
  file: string;
  env: Record<string, string>;
}

/** PgBouncer from PATH, else Debian's package, unpacked; null where neither can be had. */
export async function findBouncer(): Promise<Binary | null> {
  const installed = { file: "pgbouncer", env: {} };
  if ((await run("pgbouncer", ["--version"])).ok) return installed;
  const place = await findPlace(join(provided("TEST_DATA"), "..", "pgbouncer"));
  const root = join(place.folder, `unpacked-${process.arch}`);
  const file = join(root, "usr", "sbin", "pgbouncer");
  if (!existsSync(file) && !(await unpackPackages(["pgbouncer"], root))) return null;
  const env = librariesOf(root);
  return (await run(file, ["--version"], { env, identity: place.identity })).ok
    ? { file, env }
    : null;
}

/** Starts one before the database of `databaseUrl`, whose user and password it takes. */
export async function startBouncer(databaseUrl: string, mode: PoolMode): Promise<Bouncer> {
  const binary = await findBouncer();
  if (binary === null) throw new Error("no pgbouncer");
  const name = `pgbouncer-${randomBytes(4).toString("hex")}`;
  const place = await findPlace(join(provided("TEST_DATA"), name));
  const port = await somePort();
  const url = new URL(databaseUrl);
  writeSettings(place, { mode, port, url });
  let server: ServerProcess;
  url.port = String(port);
  const start = async (): Promise<void> => {
    server = spawnServer(binary.file, [join(place.folder, "pgbouncer.ini")], {
      identity: place.identity,
      env: binary.env,
      cwd: place.folder,
      logFile: join(place.folder, "pgbouncer.log"),
    });
    await answering(url.href);
  };
  const kill9 = async (): Promise<void> => {
    signalQuietly(server.pid, "SIGKILL");
    await server.exited;
  };
  const drop = async (): Promise<void> => {
    await kill9();
    rmSync(place.folder, { recursive: true, force: true });
  };
  await start();
  const letGo = hold(name, drop);
  return {
    url: url.href,
    kill9,
    restart: start,
    drop: async () => {
      letGo();
      await drop();
    },
  };
}

function writeSettings(
  { folder, identity }: Place,
  { mode, port, url }: { mode: PoolMode; port: number; url: URL },
): void {
  mkdirSync(folder, { recursive: true });
  const [users, ini] = [join(folder, "users.txt"), join(folder, "pgbouncer.ini")];
  writeFileSync(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`);
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: users,
    pool_mode: mode,
    // Fewer sessions than clients, so that they are shared in earnest.
    ...(mode === "session" ? { default_pool_size: 100 } : { default_pool_size: 8 }),
    max_client_conn: 500,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const database = url.pathname.slice(1);
  writeFileSync(
    ini,
    `[databases]\n${database} = host=${url.hostname} port=${url.port}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  for (const file of [users, ini])
    if (identity.owner !== null) chownSync(file, identity.owner.uid, identity.owner.gid);
}

async function answering(url: string): Promise<void> {
  for (const end = Date.now() + 30_000; ; await sleep(30)) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query("select 1");
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
