import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import type { Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";

/** Adds a verb to a noun: its sentence in the help, and lines to copy below its `--help`. */
export const verb = (
  noun: Command,
  name: string,
  description: string,
  ...lines: readonly string[]
): Command =>
  noun
    .command(name)
    .description(description)
    .addHelpText("after", examples(...lines));

/** What stands below a command's `--help`. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  npm run -s operator -- ${line}`).join("\n")}`;

/** For a verb that asks for consent. */
export const yesOption = ["--yes", "do not ask for confirmation"] as const;

/** Ends the command unless `--yes` was given or the operator agrees. */
export async function consent(
  output: Output,
  yes: boolean | undefined,
  question: string,
  otherwise: string,
): Promise<void> {
  if (!yes && !(await confirmed(output, question))) throw new Refusal(otherwise, 1);
}

/** Asks before what cannot be undone, on a terminal only; elsewhere, and with --json, the command is the consent. */
export async function confirmed(
  { json, stdin: input, stderr: output }: Pick<Output, "json" | "stdin" | "stderr">,
  question: string,
): Promise<boolean> {
  if (json || !input.isTTY || !output.isTTY) return true;
  const terminal = createInterface({ input, output });
  try {
    return /^(y|yes)$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
