import { userInfo } from "node:os";
import { Command, CommanderError } from "commander";
import { citiesCommand } from "#cli/cities.ts";
import { configCommand } from "#cli/config.ts";
import { demoCommand } from "#cli/demo.ts";
import { keyCommand } from "#cli/key.ts";
import { limitRequestCommand } from "#cli/limit-request.ts";
import { marksCommand } from "#cli/marks.ts";
import { createOutput } from "#cli/output.ts";
import { partnerCommand } from "#cli/partner.ts";
import { queuesCommand } from "#cli/queues.ts";
import { Refusal } from "#cli/refusal.ts";
import { reviewCommand } from "#cli/review.ts";
import { stationsCommand } from "#cli/stations.ts";
import { statusesCommand } from "#cli/statuses.ts";
import { line } from "#cli/values.ts";

const nouns = [
  partnerCommand,
  keyCommand,
  limitRequestCommand,
  stationsCommand,
  citiesCommand,
  statusesCommand,
  reviewCommand,
  marksCommand,
  queuesCommand,
  configCommand,
  demoCommand,
];

const program = new Command("operator")
  .description(
    "Runs one instance of Fuelmark: partners, keys, data. Works on DATABASE_URL, else on the one `npm start` runs.",
  )
  .option("--json", "exactly one JSON value on stdout, never a question")
  .option(
    "--actor <name>",
    "who does this, for the operator's log",
    line("--actor", 80, "not empty"),
  )
  .helpCommand(false)
  .exitOverride()
  .configureOutput({ writeErr: () => undefined });

const output = () => {
  const { json = false, actor = userName() } = program.opts<{ json?: boolean; actor?: string }>();
  return createOutput(json, actor);
};
for (const noun of nouns) program.addCommand(inherited(noun(output)));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}

/** commander hands these settings only to commands that it makes itself. */
function inherited(command: Command): Command {
  command.copyInheritedSettings(program).helpCommand(false);
  for (const verb of command.commands) inherited(verb);
  return command;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Says what went wrong, on stderr, and with --json as the one JSON value too. Answers the exit code. */
function explain(error: unknown): number {
  const asked = error instanceof CommanderError && error.exitCode === 0;
  if (asked) return 0;
  const known = error instanceof Refusal || error instanceof CommanderError;
  const cause = error instanceof Error ? error : new Error(String(error));
  const sentence = known
    ? cause.message.replace(/^error: /, "")
    : `this should not have happened: ${cause.stack}`;
  if (error instanceof CommanderError && error.code === "commander.help") {
    process.stderr.write(`${helpOf(process.argv.slice(2))}\n`);
  } else process.stderr.write(`${sentence}\n`);
  if (process.argv.includes("--json"))
    process.stdout.write(`${JSON.stringify({ error: known ? sentence : cause.message })}\n`);
  return error instanceof Refusal ? error.exitCode : known ? 2 : 1;
}

function helpOf(words: readonly string[]): string {
  let command: Command = program;
  for (const word of words)
    command = command.commands.find((one) => one.name() === word) ?? command;
  return command.helpInformation().trimEnd();
}
