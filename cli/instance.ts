import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Surroundings } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { loadConfig, type Config } from "#src/infrastructure/config.ts";
import { createDb, isUnavailable, type Db } from "#src/infrastructure/db.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

const runFile = join(projectRoot, ".data", "run.json");

/** The settings of the instance to work on: the environment's, completed by the one that `npm start` runs here. */
export function instanceConfig(env: Surroundings["env"]): Config {
  const running = env["DATABASE_URL"] ? {} : readRunFile();
  try {
    return loadConfig({ ...running, ...withoutEmpty(env) });
  } catch (error) {
    throw new Refusal((error as Error).message, 1);
  }
}

/** Where a setting of `instanceConfig` comes from. */
export function sourceOf(
  name: string,
  env: Surroundings["env"],
): "environment" | "npm start" | "default" {
  if (env[name]) return "environment";
  return !env["DATABASE_URL"] && name in readRunFile() ? "npm start" : "default";
}

/** Runs `work` on the instance's database and closes it. Refuses with a sentence when there is none. */
export async function withDb<T>(
  { env }: Pick<Surroundings, "env">,
  work: (db: Db, config: Config) => Promise<T>,
): Promise<T> {
  const config = instanceConfig(env);
  if (config.databaseUrl === "") {
    throw new Refusal("no instance found: start one with `npm start`, or set DATABASE_URL", 1);
  }
  // An operator's command may wait for the service's short locks, and works through long tables.
  const patient = {
    ...config,
    lockTimeoutMs: 30_000,
    queryTimeoutMs: 120_000,
    acquireTimeoutMs: 5000,
  };
  const db = createDb(patient, "operator", 3);
  try {
    return await work(db, config);
  } catch (error) {
    if (isUnavailable(error))
      throw new Refusal(`Postgres does not answer (${(error as Error).message})`, 1);
    if ((error as { code?: unknown }).code === "42P01") {
      throw new Refusal("this database has no schema yet: run the release role first", 1);
    }
    throw error;
  } finally {
    await db.destroy();
  }
}

function readRunFile(): Record<string, string> {
  let run: unknown;
  try {
    run = JSON.parse(readFileSync(runFile, "utf8"));
  } catch {
    return {};
  }
  const { databaseUrl, redisUrl, baseUrl, port } = run as Record<string, unknown>;
  return withoutEmpty({
    DATABASE_URL: word(databaseUrl),
    REDIS_URL: word(redisUrl),
    BASE_URL: word(baseUrl),
    PORT: word(port),
  });
}

const word = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

const withoutEmpty = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]));
