import { existsSync, rmSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { run } from "#demo/servers/command.ts";
import { findPlace } from "#demo/servers/place.ts";
import { somePort } from "#demo/servers/port.ts";
import { findPostgres, reachable, type PostgresBinaries } from "#demo/servers/postgres-binaries.ts";
import { signalQuietly, spawnServer } from "#demo/servers/process.ts";
import { hold } from "#test/harness/leaks.ts";
import { provided } from "#test/harness/provided.ts";

/** A standby of a test's own Postgres. */
export interface Standby {
  url: string;
  /** Cuts it off from its primary, which goes on without it. */
  cutOff(): Promise<void>;
  /** Makes it the primary. */
  promote(): Promise<void>;
  drop(): Promise<void>;
}

/** Postgres with pg_basebackup, as Debian's package brings it and npm's does not; null without. */
export async function findBaseBackup(): Promise<PostgresBinaries | null> {
  // The first is the one that the tests' own servers run.
  const [first] = await findPostgres();
  return first !== undefined && existsSync(join(first.bin, "pg_basebackup")) ? first : null;
}

/** Copies a running primary and follows it. */
export async function startStandby(primaryUrl: string): Promise<Standby> {
  const found = await findBaseBackup();
  if (found === null) throw new Error("no pg_basebackup");
  const name = `postgres-standby-${randomBytes(4).toString("hex")}`;
  const place = await findPlace(join(provided("TEST_DATA"), name));
  const binaries = (await reachable(found, place.identity, place.copies)) ?? found;
  const { identity } = place;
  const data = join(place.folder, "data");
  const copy = ["-D", data, "-d", primaryUrl, "-R", "-X", "stream", "--checkpoint=fast"];
  const copied = await run(join(binaries.bin, "pg_basebackup"), [...copy, "--no-sync"], {
    identity,
    cwd: place.folder,
  });
  if (!copied.ok) throw new Error(`pg_basebackup: ${copied.stderr}`);
  const port = await somePort();
  const settings = ["listen_addresses=127.0.0.1", `port=${port}`, "max_connections=200"];
  const flags = settings.flatMap((setting) => ["-c", setting]);
  const server = spawnServer(join(binaries.bin, "postgres"), ["-D", data, "-k", "", ...flags], {
    identity,
    cwd: place.folder,
    logFile: join(place.folder, "postgres.log"),
  });
  const url = new URL(primaryUrl);
  url.port = String(port);
  const ask = async (sql: string): Promise<unknown> => {
    const client = new pg.Client({ connectionString: url.href });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return Object.values((await client.query<Record<string, unknown>>(sql)).rows[0] ?? {})[0];
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const waitFor = async (sql: string): Promise<void> => {
    for (const end = Date.now() + 60_000; ; await sleep(50)) {
      if ((await ask(sql).catch(() => false)) === true) return;
      if (Date.now() > end) throw new Error(`the standby: not ${sql}`);
    }
  };
  const drop = async (): Promise<void> => {
    for (const signal of ["SIGINT", "SIGQUIT", "SIGKILL"] as const) {
      if (server.hasExited()) break;
      signalQuietly(server.pid, signal);
      await Promise.race([server.exited, sleep(3000, undefined, { ref: false })]);
    }
    rmSync(place.folder, { recursive: true, force: true });
  };
  const letGo = hold(name, drop);
  await waitFor("select count(*) = 1 from pg_stat_wal_receiver where status = 'streaming'");
  return {
    url: url.href,
    cutOff: async () => {
      await ask("alter system set primary_conninfo = ''");
      await ask("select pg_reload_conf()");
      await waitFor("select count(*) = 0 from pg_stat_wal_receiver");
    },
    promote: async () => {
      await ask("select pg_promote()");
      await waitFor("select not pg_is_in_recovery()");
    },
    drop: async () => {
      letGo();
      await drop();
    },
  };
}
