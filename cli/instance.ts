import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { examples } from "#cli/command.ts";
import { ExitError, exitErrorOf, type Output, type Surroundings, table } from "#cli/output.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { loadConfig, settings, type Config } from "#src/infrastructure/config.ts";
import { databaseFault } from "#src/infrastructure/database-fault.ts";
import { createDb, type Db, patience } from "#src/infrastructure/db.ts";
import { directUrl } from "#src/infrastructure/postgres-hosts.ts";
import { createProgress, type Progress } from "#src/infrastructure/progress.ts";
import { noSchema } from "#src/infrastructure/schema-fault.ts";
import { projectRoot } from "#src/infrastructure/project-root.ts";

const runFile = join(projectRoot, ".data", "run.json");

/**
 * The settings of the instance to work on: the environment's, completed by those of the instance that `npm start` runs
 * here, unless the environment names its own database.
 */
export function instanceConfig(env: Surroundings["env"], file = runFile): Config {
  try {
    return loadConfig({ ...runningBeside(env, file), ...withoutEmpty(env) });
  } catch (error) {
    throw new ExitError((error as Error).message, 1);
  }
}

/** `operator config`: every setting with its value, source, default and meaning. Secrets are hidden. */
export const configCommand = (output: () => Output): Command =>
  new Command("config")
    .description("all settings: value, source of the value, default, meaning")
    .addHelpText("after", examples("config", "config --json"))
    .action(() => {
      const { env, result } = output();
      result(settingsOf(env), (all) =>
        table(
          all.map((line) => ({
            ...line,
            value: asGiven(line.value),
            default: line.source === "default" ? "" : asGiven(line.default),
          })),
          "",
        ),
      );
    });

/** Every setting of the instance to work on, with the source of its value. */
export function settingsOf(env: Surroundings["env"], file = runFile) {
  const config = instanceConfig(env, file);
  const running = runningBeside(env, file);
  return Object.entries(settings).map(([name, setting]) => {
    const value = config[name as keyof Config];
    const source = env[setting.env]
      ? "environment"
      : setting.env in running
        ? "npm start"
        : "default";
    return {
      setting: setting.env,
      value: setting.secret ? (value === "" ? "not set" : "set") : value,
      source,
      default: setting.fallback,
      meaning: setting.meaning,
    };
  });
}

/** A switch in the form of a setting. */
const asGiven = <T>(value: T): T | string => (typeof value === "boolean" ? String(value) : value);

/** Limits of a command that differ from the usual ones, ms, and the number of its connections. */
type Patience = Partial<Pick<Config, "lockTimeoutMs" | "queryTimeoutMs">> & {
  connections?: number;
};

/**
 * Runs `work` on the instance's database and closes it; `progress` is shown on stderr. Refuses with a sentence when
 * there is no database, and when an operator's act was refused.
 */
export async function withDb<T extends object>(
  { env, stderr }: Pick<Surroundings, "env" | "stderr">,
  work: (db: Db, config: Config, progress: Progress) => Promise<T | Refusal>,
  { connections = 3, ...own }: Patience = {},
): Promise<T> {
  const config = instanceConfig(env);
  if (config.databaseUrl === "") {
    throw new ExitError("no instance found: start one with `npm start`, or set DATABASE_URL", 1);
  }
  const direct = { ...config, ...patience, ...own, databaseUrl: directUrl(config) };
  const db = createDb(direct, "operator", connections);
  const progress = createProgress(stderr);
  try {
    const done = await work(db, config, progress);
    if (isRefusal(done)) throw exitErrorOf(done);
    return done;
  } catch (error) {
    const { code } = error as { code?: unknown };
    const said = code === "42P01" ? noSchema : databaseFault(error);
    throw said === null ? error : new ExitError(said, 1);
  } finally {
    progress.end();
    await db.destroy();
  }
}

/** The settings of the instance that `npm start` runs here; none if the environment names another one. */
const runningBeside = (env: Surroundings["env"], file: string): Record<string, string> =>
  env["DATABASE_URL"] ? {} : readRunFile(file);

/** The launcher's file; empty when the launcher is gone, since a killed one leaves the file behind. */
function readRunFile(file: string): Record<string, string> {
  let run: Record<string, unknown>;
  try {
    run = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
  if (typeof run["pid"] === "number" && !isAlive(run["pid"])) return {};
  const { databaseUrl, redisUrl, reporterPepper, baseUrl, port } = run;
  const found = {
    // A launcher of an earlier version wrote no settings.
    ...(run["settings"] as object | undefined),
    ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, REPORTER_PEPPER: reporterPepper },
    ...{ BASE_URL: baseUrl, PORT: port },
  };
  const scalars = Object.entries(found).filter(([, value]) =>
    /^(string|number)$/.test(typeof value),
  );
  return withoutEmpty(Object.fromEntries(scalars.map(([name, value]) => [name, String(value)])));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process is alive, but another user's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

const withoutEmpty = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1]));
