import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { table, type Output } from "#cli/output.ts";
import { namedRates } from "#src/domain/chance/learning.ts";
import { shippedNumbers } from "#src/domain/chance/numbers.ts";
import { formatTime } from "#src/domain/time.ts";
import { ratesTable, setLearning } from "#src/marks/chance-learning.ts";

/** `operator chance rates|learn`: the rates of change that this instance learns (decisions 23.21). */
export function chanceCommand(output: () => Output): Command {
  const command = new Command("chance").description(
    "the rates of change by which chances of fuel are followed, and learning them",
  );

  verb(
    command,
    "rates",
    "the shipped rates beside those in force, and what the last night found",
    "chance rates",
  ).action(async () => {
    const { result, note } = output();
    const { rates, looked, learns, ...night } = await withDb(output(), ratesTable);
    result(rates, (list) => table(list, "none"));
    const last = looked === null ? "no night yet" : `${formatTime(looked)}: ${night.result}`;
    note(
      `learning is ${learns ? "on" : "off"}; ${last}, from ${night.changes} changes in ${night.marks} marks at ${night.stations} stations`,
    );
  });

  actVerb(command, output, setLearning, {
    name: "learn",
    about: "switch the nightly learning on or off, or go back to the shipped rates, which ends it",
    examples: ["chance learn --to on", "chance learn --to shipped"],
    options: { learning: ["--to <on|off|shipped>", "off keeps the rates that were learnt"] },
    shown: ({ learns, rates }) => ({ learns, ...namedRates(rates ?? shippedNumbers) }),
  });
  return command;
}
