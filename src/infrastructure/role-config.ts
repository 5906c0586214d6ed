import { loadConfig, missingSettings, type Config } from "#src/infrastructure/config.ts";
import { createLog, type Log } from "#src/infrastructure/log.ts";

const all = ["databaseUrl", "redisUrl", "reporterPepper"] as const;

/**
 * Settings and log of this process's role. Ends the process with one line that names every setting that is bad or,
 * of those that the role cannot do without, missing.
 */
export function roleConfig(
  role: string,
  needed: readonly (typeof all)[number][] = all,
): { config: Config; log: Log } {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    return refuse(createLog({ logLevel: "info" }, role), (error as Error).message);
  }
  const log = createLog(config, role);
  const missing = missingSettings(config, needed);
  return missing === null ? { config, log } : refuse(log, missing);
}

function refuse(log: Log, sentence: string): never {
  log.fatal(sentence);
  process.exit(1);
}
