import { alarmSettings } from "#src/infrastructure/settings/alarms.ts";
import { callerSettings } from "#src/infrastructure/settings/callers.ts";
import { feedSettings } from "#src/infrastructure/settings/feeds.ts";
import { marksSettings } from "#src/infrastructure/settings/marks.ts";
import { numbers } from "#src/infrastructure/settings/numbers.ts";
import { processSettings } from "#src/infrastructure/settings/process.ts";
import { webhookSettings } from "#src/infrastructure/settings/webhooks.ts";
import { streamSettings } from "#src/infrastructure/settings/streams.ts";
import { envName } from "#src/infrastructure/settings/setting.ts";
import { workSettings } from "#src/infrastructure/settings/work.ts";

/**
 * Every number and switch an operator might want to change, with its default and meaning.
 * `npm run operator -- config` prints this list; nothing else reads the environment.
 */
export const settings = {
  ...processSettings,
  ...callerSettings,
  ...streamSettings,
  ...marksSettings,
  ...workSettings,
  ...alarmSettings,
  ...webhookSettings,
  ...feedSettings,
};

export type Config = {
  readonly [Name in keyof typeof settings]: (typeof settings)[Name]["fallback"];
} & { readonly [Name in keyof typeof numbers]: number };

/** Reads the settings from `env`. Throws one Error that names every bad value and what it should be. */
export function loadConfig(env: Record<string, string | undefined> = process.env): Config {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = env[setting.env];
    try {
      values[name] = text === undefined || text === "" ? setting.fallback : setting.parse(text);
    } catch (error) {
      faults.push(`${setting.env} must be ${(error as Error).message}`);
    }
  }
  for (const [name, number] of Object.entries(numbers)) {
    const given = values["testNumbers"] === true ? env[envName(name)] : undefined;
    values[name] = Number(given || number);
  }
  const config = values as Config & {
    baseUrl: string;
    problemBase: string;
    externalIdDays: number;
  };
  if (faults.length === 0 && config.redisCluster.length > 0) {
    if (config.redisSentinels.length > 0)
      faults.push("REDIS_CLUSTER and REDIS_SENTINELS must not be set together");
    if (!/^(\w+:\/\/[^/?#]*\/?0?)?$/.test(config.redisUrl))
      faults.push("REDIS_URL must name no database if REDIS_CLUSTER is set: a cluster has only 0");
  }
  if (faults.length === 0 && config.alarmEmailTo.length > 0 !== (config.alarmSmtpUrl !== ""))
    faults.push("ALARM_EMAIL_TO and ALARM_SMTP_URL must be set together");
  if (faults.length > 0) throw new Error(`bad settings: ${faults.join("; ")}`);
  // Longer a duplicate could not be answered: its first mark is gone.
  config.externalIdDays = Math.min(config.externalIdDays, config.retentionDays);
  config.baseUrl ||= `http://localhost:${config.port}`;
  config.problemBase ||= `${config.baseUrl}/problems`;
  return config;
}

/** The settings in `env`, each as it was given. */
export const givenSettings = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.values(settings).flatMap(({ env: name }) => (env[name] ? [[name, env[name]]] : [])),
  );

/** Names in `env` of numbers that were settings of an earlier version, and are none any more. */
export const formerSettings = (env: Record<string, string | undefined> = process.env): string[] =>
  Object.keys(numbers)
    .map(envName)
    .filter((name) => env[name] !== undefined && !env["TEST_NUMBERS"]);

/** The settings of `names` that are missing, as one sentence; null when all are there. */
export function missingSettings(
  config: Config,
  names: readonly ("databaseUrl" | "redisUrl" | "reporterPepper")[],
): string | null {
  const missing = names.filter((name) => config[name] === "");
  if (missing.length === 0) return null;
  return `set ${missing.map((name) => settings[name].env).join(", ")} (npm start sets them by itself for a trial)`;
}
