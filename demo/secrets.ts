import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What a production deployment is given by its operator; a trial makes it once and keeps it. */
export interface Secrets {
  reporterPepper: string;
  /** The demo partner's keys: the database has only their hashes. */
  keys?: { secret: string; publishable: string };
  /** The account that opens the console: the database has only its password's hash. */
  operator?: { name: string; password: string };
}

/** The secrets of this data folder, made now when there are none. */
export function secretsOf(dataDir: string): Secrets {
  const file = fileIn(dataDir);
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Secrets;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new Error(`${file} cannot be read (${(error as Error).message})`, { cause: error });
    }
    const secrets = { reporterPepper: randomBytes(32).toString("hex") };
    saveSecrets(dataDir, secrets);
    return secrets;
  }
}

/** Replaces the file in one step, so that a crash leaves the old or the new one. */
export function saveSecrets(dataDir: string, secrets: Secrets): void {
  const file = fileIn(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

const fileIn = (dataDir: string): string => join(dataDir, "secrets.json");
