import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { release } from "#demo/release.ts";
import { startServers } from "#demo/servers/start.ts";
import { type Config, loadConfig } from "#src/infrastructure/config.ts";
import { createDb } from "#src/infrastructure/db.ts";

/** Postgres with fsync on and Redis, an empty migrated database, and what is to be undone afterwards. */
export interface Stage {
  /** For files of the benchmark; deleted by `close`. */
  folder: string;
  settings: Record<string, string> & { DATABASE_URL: string; REDIS_URL: string };
  config: Config;
  /** Runs before the servers go, last one first. */
  onClose(stop: () => Promise<void> | void): void;
  close(): Promise<void>;
}

/** A folder of this run's own and the servers of the environment, or some of its own in that folder, fsync on. */
export async function openServers() {
  const folder = resolve(".data", `bench-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const env = process.env;
  const servers = await startServers({ dataDir: folder, env, durable: true, log: console.log });
  const close = async (): Promise<void> => {
    await servers.stop();
    servers.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, servers, close };
}

/** `settings` are added to those of every process. */
export async function openStage(settings: Record<string, string>): Promise<Stage> {
  const { folder, servers, close: closeServers } = await openServers();
  const name = `fuelmark_bench_${process.pid}`;
  const url = new URL(servers.databaseUrl);
  url.pathname = `/${name}`;
  const all = {
    DATABASE_URL: url.href,
    REDIS_URL: servers.redisUrl,
    REDIS_PREFIX: `{bench-${name}}`,
    REPORTER_PEPPER: randomBytes(16).toString("hex"),
    HOST: "127.0.0.1",
    TEST_NUMBERS: "true",
    ...settings,
  };
  const adminConfig = loadConfig({ ...all, DATABASE_URL: servers.databaseUrl });
  // A database of years is not dropped within the time of a usual statement.
  const admin = createDb({ ...adminConfig, queryTimeoutMs: 300_000 }, "bench");
  const stops: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const stop of stops.toReversed()) await stop();
    await admin.raw(`drop database if exists ${name} with (force)`);
    await admin.destroy();
    await closeServers();
  };
  try {
    await admin.raw(`create database ${name}`);
    await release({ DATABASE_URL: all.DATABASE_URL, REDIS_URL: all.REDIS_URL });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    folder,
    settings: all,
    config: loadConfig(all),
    onClose: (stop) => void stops.push(stop),
    close,
  };
}
