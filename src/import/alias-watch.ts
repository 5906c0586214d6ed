import { type Aliases, readAliases } from "#src/import/brand-aliases.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createPolled, type Polled } from "#src/infrastructure/polled.ts";
import type { Resources } from "#src/infrastructure/resources.ts";

/** Gives the operator's aliases of brands to `learn`, again each `pollMs`. Without the database the last ones stay. */
export const createAliasWatch = (
  deps: Pick<Resources, "db" | "log"> & {
    config: Pick<Config, "pollMs">;
    learn: (aliases: Aliases) => void;
  },
): Polled =>
  createPolled({
    everyMs: deps.config.pollMs,
    look: async () => deps.learn(await readAliases(deps.db)),
    onError: (err) => deps.log.debug({ err }, "no look at the aliases of brands"),
  });
