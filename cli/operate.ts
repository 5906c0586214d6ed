import { userInfo } from "node:os";
import { Command, CommanderError } from "commander";
import { accountCommand } from "#cli/account.ts";
import { alarmCommand } from "#cli/alarm.ts";
import { aboutField, examples, helpWords, line, naming } from "#cli/command.ts";
import { databaseCommand, demoCommand } from "#cli/database.ts";
import { brandCommand } from "#cli/brand.ts";
import { networkCommand } from "#cli/blocks.ts";
import { feedCommand } from "#cli/feed.ts";
import { citiesCommand } from "#cli/import-command.ts";
import { incidentCommand } from "#cli/incident.ts";
import { configCommand } from "#cli/instance.ts";
import { keyCommand } from "#cli/key.ts";
import { limitRequestCommand } from "#cli/limit-request.ts";
import { logCommand } from "#cli/log.ts";
import { marksCommand } from "#cli/marks.ts";
import { createOutput, ExitError, type Output, type Surroundings } from "#cli/output.ts";
import { partnerCommand } from "#cli/partner.ts";
import { queuesCommand } from "#cli/queues.ts";
import { reporterCommand } from "#cli/reporter.ts";
import { retentionCommand } from "#cli/retention.ts";
import { reviewCommand } from "#cli/review.ts";
import { runsCommand } from "#cli/runs.ts";
import { sourceCommand } from "#cli/source.ts";
import { stationCommand } from "#cli/station.ts";
import { stationsCommand } from "#cli/stations.ts";
import { suggestionCommand } from "#cli/suggestion.ts";
import { statusesCommand } from "#cli/statuses.ts";
import { webhookCommand } from "#cli/webhook.ts";

/** The nouns of `operator`, in the order of its help. */
export const nouns: readonly ((output: () => Output) => Command)[] = [
  accountCommand,
  partnerCommand,
  keyCommand,
  limitRequestCommand,
  webhookCommand,
  sourceCommand,
  stationsCommand,
  stationCommand,
  suggestionCommand,
  brandCommand,
  citiesCommand,
  statusesCommand,
  feedCommand,
  reviewCommand,
  alarmCommand,
  incidentCommand,
  reporterCommand,
  networkCommand,
  marksCommand,
  runsCommand,
  queuesCommand,
  retentionCommand,
  databaseCommand,
  logCommand,
  configCommand,
  demoCommand,
];

/**
 * Runs one command of the operator's. Answers the exit code: 0 done, 1 not possible now, 2 typed wrong.
 *
 * @param args the words after `operator`
 */
export async function operate(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const typed: Typed = { asksJson: args.includes("--json"), help: "", command: new Command() };
  const program = createProgram(typed);
  const output = (): Output => {
    const { json = false, actor = userName() } = program.opts<{ json?: boolean; actor?: string }>();
    return createOutput(json, actor, surroundings);
  };
  for (const noun of nouns) program.addCommand(noun(output));
  prepare(program, program, typed);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error, typed, surroundings);
  }
}

/** The parts of a command line that has been read. */
interface Typed {
  readonly asksJson: boolean;
  /** The text of `--help`, which comes in pieces. */
  help: string;
  /** The command that was run, or whose help is shown. */
  command: Command;
}

const createProgram = (typed: Typed): Command =>
  new Command("operator")
    .description(
      "Operates one instance of Fuelmark: partners, keys, data. Uses DATABASE_URL, otherwise the instance that `npm start` runs.",
    )
    .option("--json", "write exactly one JSON value to stdout and never ask a question")
    .option("--actor <name>", "your name for the operator's log", line(80, "not empty"))
    .configureHelp(helpWords)
    .hook("preAction", (_, command) => void (typed.command = command))
    .configureOutput({
      writeErr: () => undefined,
      writeOut: (text) => void (typed.help += text),
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

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;

/** Copies settings that commander gives only to commands that it makes itself, and notes which command refuses. */
function prepare(program: Command, command: Command, typed: Typed): void {
  command.copyInheritedSettings(program).helpCommand(false);
  command.exitOverride((error) => {
    typed.command = command;
    throw error;
  });
  naming(command);
  for (const verb of command.commands) prepare(program, verb, typed);
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user may have no name.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/** Shows the error on stderr, and with --json also as the one JSON value. Answers the exit code. */
function explain(
  error: unknown,
  { asksJson, help, command }: Typed,
  { stdout, stderr }: Surroundings,
): number {
  if (error instanceof CommanderError && error.exitCode === 0) {
    stdout.write(asksJson ? jsonLine({ help }) : help);
    return 0;
  }
  const expected = error instanceof ExitError || error instanceof CommanderError;
  const sentence = sentenceOf(error, command);
  const lacksVerb = error instanceof CommanderError && error.code === "commander.help";
  if (lacksVerb && !asksJson) stderr.write(`${command.helpInformation().trimEnd()}\n`);
  else stderr.write(`${sentence}\n`);
  const told = expected ? sentence : error instanceof Error ? error.message : String(error);
  if (asksJson) stdout.write(jsonLine({ error: told }));
  return error instanceof ExitError ? error.exitCode : expected ? 2 : 1;
}

function sentenceOf(error: unknown, command: Command): string {
  if (error instanceof ExitError)
    return error.field === null ? error.message : aboutField(command, error.field, error.message);
  if (!(error instanceof CommanderError))
    return `unexpected error: ${error instanceof Error ? error.stack : String(error)}`;
  return error.code === "commander.help"
    ? needsWord(command)
    : `${error.message.replace(/^error: /, "").replace("\n", " ")}: see \`${pathOf(command)} --help\``;
}

/** For a noun without a verb, such as `operator partner`, which does nothing. */
function needsWord(command: Command): string {
  const words = command.commands.map((one) => one.name()).join(", ");
  return `\`${pathOf(command)}\` needs a ${command.parent === null ? "noun" : "verb"}: ${words}`;
}

/** A command as it is typed. */
const pathOf = (command: Command): string =>
  `${command.parent === null ? "" : `${pathOf(command.parent)} `}${command.name()}`;
