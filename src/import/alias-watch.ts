import { type Aliases, readAliases } from "#src/import/brand-aliases.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createPolled, type Polled } from "#src/infrastructure/polled.ts";

/** Gives the operator's aliases of brands to `learn`, again each `pollMs`. Without the database the last ones stay. */
export const createAliasWatch = (deps: {
  db: Db;
  config: Pick<Config, "pollMs">;
  log: Log;
  learn: (aliases: Aliases) => void;
}): Polled =>
  createPolled({
    everyMs: deps.config.pollMs,
    look: async () => deps.learn(await readAliases(deps.db)),
    onError: (err) => deps.log.debug({ err }, "no look at the aliases of brands"),
  });
