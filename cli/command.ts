import { createInterface } from "node:readline/promises";
import { type Argument, type Command, Help, type Option } from "commander";
import { ExitError, type Output } from "#cli/output.ts";
import { guardNames } from "#src/contract/console-imports.ts";
import { entries } from "#src/contract/query.ts";
import { parseTime } from "#src/domain/time.ts";

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

// Readers of typed options and arguments. A refusal names the expected form; `naming` puts the name of the
// option before it.

/** A whole number from `min` to `max`. Refuses other text, as all of these do. */
export const integer =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,15}$/.test(text) || value < min || value > max) {
      throw new ExitError(`must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return value;
  };

/** The id of a row. */
export const id = integer(1, 2_147_483_647);

/** A mark's id, as `report_id` shows it. */
export const markId = integer(1, 999_999_999_999_999);

/** A station's id; the station itself is looked up later. */
export const stationId = (text: string): string => {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(text))
    throw new ExitError(`must be a station's id, not "${text}"`);
  return text;
};

/** A decimal number from `-most` to `most`: degrees. */
export const degrees =
  (most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^[-+]?\d{1,3}(\.\d{1,15})?$/.test(text) || Math.abs(value) > most)
      throw new ExitError(`must be a number from -${most} to ${most}, not "${text}"`);
    return value;
  };

/** Number of lines of a list. */
export const listLimit = integer(1, 100_000);

/** A UTC time, or a day for its beginning, in ms. */
export const moment = (text: string): number => {
  const at = parseTime(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text} 00:00:00` : text);
  if (at === null)
    throw new ExitError(`must be "YYYY-MM-DD HH:MM:SS" in UTC, or a day, not "${text}"`);
  return at;
};

export const flag = (text: string): boolean => {
  if (text !== "true" && text !== "false")
    throw new ExitError(`must be true or false, not "${text}"`);
  return text === "true";
};

export const choice =
  <const T extends string>(words: readonly T[]) =>
  (text: string): T => {
    const found = words.find((word) => word === text);
    if (found === undefined)
      throw new ExitError(`must be one of ${words.join(", ")}, not "${text}"`);
    return found;
  };

/** Guards of whole files to ignore: a word that is none would be no consent to anything. */
export const guards = (text: string) => entries(text).map(choice(guardNames));

/** This word, or a value by `parse`. The word is kept, because commander turns a parser's null into "". */
export const wordOr =
  <const Word extends string, T>(word: Word, parse: (text: string) => T) =>
  (text: string): Word | T => {
    if (text === word) return word;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof ExitError)) throw error;
      throw new ExitError(error.message.replace(/^must be /, `must be ${word}, or `));
    }
  };

export const line =
  (maxLength: number, empty: "may be empty" | "not empty") =>
  (text: string): string => {
    const trimmed = text.trim();
    if (trimmed === "" && empty === "not empty") throw new ExitError("must not be empty");
    if ([...trimmed].length > maxLength)
      throw new ExitError(`must have at most ${maxLength} characters`);
    if (/\p{C}/u.test(trimmed))
      throw new ExitError("must not contain control or invisible characters");
    return trimmed;
  };

/** The name under which imported rows are kept; it also makes ids. */
export function sourceName(text: string): string {
  const name = line(40, "not empty")(text);
  if (!/^[A-Za-z0-9_-]+$/.test(name))
    throw new ExitError("must contain only letters a-z, digits, - and _");
  return name;
}
