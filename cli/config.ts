import { Command } from "commander";
import { instanceConfig } from "#cli/instance.ts";
import { table, type Output } from "#cli/output.ts";
import { settings, type Config } from "#src/config.ts";

/** `operator config`: every setting with its value, default and meaning. Secrets are only said to be set. */
export const configCommand = (output: () => Output): Command =>
  new Command("config").description("all settings: value, default, meaning").action(() => {
    const config = instanceConfig();
    const list = Object.entries(settings).map(([name, { env, fallback, meaning, secret }]) => {
      const value = config[name as keyof Config];
      return {
        setting: env,
        value: secret ? (value === "" ? "not set" : "set") : value,
        default: fallback,
        meaning,
      };
    });
    output().result(list, (all) =>
      table(
        all.map((one) => ({
          ...one,
          default: String(one.default) === String(one.value) ? "" : one.default,
        })),
        "",
      ),
    );
  });
