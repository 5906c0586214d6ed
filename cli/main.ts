import { userInfo } from "node:os";
import { Command, CommanderError } from "commander";
import { examples } from "#cli/examples.ts";
import { nouns } from "#cli/nouns.ts";
import { createOutput } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { line } from "#cli/values.ts";

/** What `--help` says; it comes in pieces. */
let help = "";
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
  .configureOutput({
    writeErr: () => undefined,
    writeOut: (text) => void (help += text),
  })
  .addHelpText(
    "after",
    examples(
      "partner create --name Maps",
      "key issue --partner 1 --kind secret",
      "key revoke --help",
      "queues --json",
    ),
  );

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

function asked(flag: string): boolean {
  return process.argv.includes(flag);
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
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
  if (error instanceof CommanderError && error.exitCode === 0) {
    process.stdout.write(asked("--json") ? jsonLine({ help }) : help);
    return 0;
  }
  const known = error instanceof Refusal || error instanceof CommanderError;
  const cause = error instanceof Error ? error : new Error(String(error));
  const sentence = known
    ? cause.message.replace(/^error: /, "")
    : `this should not have happened: ${cause.stack}`;
  if (error instanceof CommanderError && error.code === "commander.help") {
    process.stderr.write(`${helpOf(process.argv.slice(2))}\n`);
  } else process.stderr.write(`${sentence}\n`);
  if (asked("--json")) process.stdout.write(jsonLine({ error: known ? sentence : cause.message }));
  return error instanceof Refusal ? error.exitCode : known ? 2 : 1;
}

function helpOf(words: readonly string[]): string {
  let command: Command = program;
  for (const word of words)
    command = command.commands.find((one) => one.name() === word) ?? command;
  return command.helpInformation().trimEnd();
}
