import { Command } from "commander";
import { addReporterBlock } from "#cli/blocks.ts";
import { consent, id, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, type Output } from "#cli/output.ts";
import { eraseByOperator } from "#src/marks/erasure.ts";
import { exportPerson } from "#src/marks/person-export.ts";
import type { Person } from "#src/marks/marks.ts";

interface Options {
  partner?: number;
  userRef?: string;
  device?: string;
  yes?: boolean;
}

/** `operator reporter erase|export|block`: a person's data (decisions 19), and a block (4.13). */
export function reporterCommand(output: () => Output): Command {
  const command = new Command("reporter").description(
    "erase a person, hand out their data, or hold their marks",
  );

  named(
    verb(
      command,
      "erase",
      "replace a person by a random one that nothing leads back to; their marks stay",
      "reporter erase --partner 1 --user-ref user-17",
      "reporter erase --device 5f1d7c2e90ab",
    ),
  )
    .option(...yesOption)
    .action(async ({ yes, ...options }: Options) => {
      const out = output();
      const person = personOf(options);
      await consent(out, yes, "Erase this person permanently?", "nothing erased");
      const erased = await withDb(out, (db, config) =>
        eraseByOperator(db, out.actor, needingPepper(config), person),
      );
      out.result({ ...erased }, card);
    });

  named(
    verb(
      command,
      "export",
      "all that is kept of a person, as JSON",
      "reporter export --partner 1 --user-ref user-17",
    ),
  ).action(async (options: Options) => {
    const out = output();
    const person = personOf(options);
    const data = await withDb(out, (db, config) =>
      exportPerson(db, out.actor, needingPepper(config), person),
    );
    out.result(data, (value) => JSON.stringify(value, null, 2));
  });
  addReporterBlock(command, output);
  return command;
}

const named = (command: Command): Command =>
  command
    .option("--partner <id>", "the partner whose user it is, with --user-ref", id)
    .option("--user-ref <ref>", "the user, exactly as the partner sends it")
    .option("--device <id>", "a device of the map, by the id that it keeps");

function personOf({ partner, userRef, device }: Options): Person {
  if (device !== undefined && partner === undefined && userRef === undefined) return { device };
  if (device === undefined && partner !== undefined && userRef !== undefined)
    return { partner, userRef };
  throw new ExitError("name either --partner and --user-ref, or --device");
}

/** Requires the pepper, because with another one nobody is ever found. */
function needingPepper<Config extends { reporterPepper: string }>(config: Config): Config {
  if (config.reporterPepper === "")
    throw new ExitError("set REPORTER_PEPPER to the value that the roles have", 1);
  return config;
}
