import { createInterface } from "node:readline/promises";
import { type Argument, type Command, Help, type Option } from "commander";
import type { Output } from "#cli/output.ts";
import { ExitError } from "#cli/exit-error.ts";

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

/** The text below a command's `--help`. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  npm run -s operator -- ${line}`).join("\n")}`;

/** The wording of `--help`: a required option is marked, and the default of an empty list is not shown. */
export const helpWords = {
  optionDescription(this: Help, option: Option): string {
    const isEmpty = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
    const words = isEmpty
      ? option.description
      : Help.prototype.optionDescription.call(this, option);
    return option.mandatory ? `${words} (required)` : words;
  },
};

/** Makes every refusal of a value begin with its option or argument, as it is typed. */
export function naming(command: Command): void {
  for (const one of [...command.options, ...command.registeredArguments]) {
    const parse = one.parseArg as ((text: string, before: unknown) => unknown) | undefined;
    if (parse === undefined) continue;
    one.parseArg = (text: string, before: unknown): never => {
      try {
        return parse(text, before) as never;
      } catch (error) {
        throw error instanceof ExitError ? new ExitError(`${typed(one)}: ${error.message}`) : error;
      }
    };
  }
}

/** The field of an act's input that an option gives, where another word is typed. */
export const fieldOf = new WeakMap<Option, string>();

/** The fault of a field of an act's input, with the name of the option or argument of `command` that gave it. */
export function aboutField(command: Command, field: string, why: string): string {
  const name = field.replaceAll("_", "-");
  const given =
    command.options.find(
      (option) => option.long === `--${name}` || fieldOf.get(option) === field,
    ) ?? command.registeredArguments.find((argument) => argument.name() === name);
  const words = why.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
  return `${given === undefined ? name : typed(given)}: ${words}`;
}

const typed = (one: Option | Argument): string =>
  "long" in one ? (one.long ?? one.flags) : `<${one.name()}>`;

/** The option of a verb that asks for consent. */
export const yesOption = ["--yes", "do not ask for confirmation"] as const;

/** Ends the command unless `--yes` was given or the operator agrees. */
export async function consent(
  output: Output,
  yes: boolean | undefined,
  question: string,
  otherwise: string,
): Promise<void> {
  if (!yes && !(await confirmed(output, question))) throw new ExitError(otherwise, 1);
}

/** Asks before an irreversible act, on a terminal only; elsewhere, and with --json, the command is the consent. */
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
