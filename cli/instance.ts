import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { examples } from "#cli/command.ts";
import { table, type Output, type Surroundings } from "#cli/output.ts";
import { Refusal, refusalOf } from "#cli/refusal.ts";
import { loadConfig, settings, type Config } from "#src/infrastructure/config.ts";
import { createDb, isUnavailable, type Db } from "#src/infrastructure/db.ts";
import { directUrl } from "#src/infrastructure/postgres-hosts.ts";
import { createProgress, type Progress } from "#src/infrastructure/progress.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { isNotDone, type NotDone } from "#src/operators/act.ts";

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

/** `operator config`: every setting with its value, where that is from, default and meaning. Secrets stay unseen. */
export const configCommand = (output: () => Output): Command =>
  new Command("config")
    .description("all settings: value, source of the value, default, meaning")
    .addHelpText("after", examples("config", "config --json"))
    .action(() => {
      const { env, result } = output();
      const config = instanceConfig(env);
      const list = Object.entries(settings).map(([name, setting]) => {
        const value = config[name as keyof Config];
        return {
          setting: setting.env,
          value: setting.secret ? (value === "" ? "not set" : "set") : value,
          source: sourceOf(setting.env, env),
          default: setting.fallback,
          meaning: setting.meaning,
        };
      });
      result(list, (all) =>
        table(
          all.map((line) => ({ ...line, default: line.source === "default" ? "" : line.default })),
          "",
        ),
      );
    });

function sourceOf(name: string, env: Surroundings["env"]): "environment" | "npm start" | "default" {
  if (env[name]) return "environment";
  return !env["DATABASE_URL"] && name in readRunFile() ? "npm start" : "default";
}

/**
 * Runs `work` on the instance's database and closes it; `progress` is shown on stderr. Refuses with a sentence when
 * there is no database, and when an act of an operator was not done.
 */
export async function withDb<T extends object>(
  { env, stderr }: Pick<Surroundings, "env" | "stderr">,
  work: (db: Db, config: Config, progress: Progress) => Promise<T | NotDone>,
): Promise<T> {
  const config = instanceConfig(env);
  if (config.databaseUrl === "") {
    throw new Refusal("no instance found: start one with `npm start`, or set DATABASE_URL", 1);
  }
  // An operator's command may wait for the service's short locks, and works through long tables.
  const patience = { lockTimeoutMs: 30_000, queryTimeoutMs: 120_000, acquireTimeoutMs: 5000 };
  const db = createDb({ ...config, ...patience, databaseUrl: directUrl(config) }, "operator", 3);
  const progress = createProgress(stderr);
  try {
    const done = await work(db, config, progress);
    if (isNotDone(done)) throw refusalOf(done);
    return done;
  } catch (error) {
    if (isUnavailable(error))
      throw new Refusal(`Postgres does not answer (${(error as Error).message})`, 1);
    if ((error as { code?: unknown }).code === "42P01") {
      throw new Refusal("this database has no schema yet: run the release role first", 1);
    }
    throw error;
  } finally {
    progress.end();
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
  const { databaseUrl, redisUrl, reporterPepper, baseUrl, port } = run as Record<string, unknown>;
  const servers = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  const found = { ...servers, REPORTER_PEPPER: reporterPepper, BASE_URL: baseUrl, PORT: port };
  const scalars = Object.entries(found).filter(([, value]) =>
    /^(string|number)$/.test(typeof value),
  );
  return withoutEmpty(Object.fromEntries(scalars.map(([name, value]) => [name, String(value)])));
}

const withoutEmpty = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]));
