import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { instanceConfig, sourceOf } from "#cli/instance.ts";
import { table, type Output } from "#cli/output.ts";
import { settings, type Config } from "#src/infrastructure/config.ts";

/** `operator config`: every setting with its value, where that is from, default and meaning. Secrets stay unseen. */
export const configCommand = (output: () => Output): Command =>
  new Command("config")
    .description("all settings: value, source of the value, default, meaning")
    .addHelpText("after", examples("config", "config --json"))
    .action(() => {
      const config = instanceConfig(output().env);
      const list = Object.entries(settings).map(([name, { env, fallback, meaning, secret }]) => {
        const value = config[name as keyof Config];
        return {
          setting: env,
          value: secret ? (value === "" ? "not set" : "set") : value,
          source: sourceOf(env, output().env),
          default: fallback,
          meaning,
        };
      });
      output().result(list, (all) =>
        table(
          all.map((one) => ({ ...one, default: one.source === "default" ? "" : one.default })),
          "",
        ),
      );
    });
