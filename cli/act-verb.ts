import { type Command, Option } from "commander";
import type { Static, TObject, TSchema } from "typebox";
import {
  choice,
  consent,
  fieldOf,
  flag,
  integer,
  line,
  moment,
  verb,
  wordOr,
  yesOption,
} from "#cli/command.ts";
import { card, ExitError, type Output } from "#cli/output.ts";
import { withDb } from "#cli/instance.ts";
import { entries } from "#src/contract/query.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import { stationId } from "#src/operators/inputs.ts";
import { stationNamed } from "#src/stations/own-ids.ts";
import type { Act, By } from "#src/operators/act.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Db } from "#src/infrastructure/db.ts";

type Parse = (text: string) => unknown;

/** The option of a field: its flags, its sentence in the help, and differences from its schema. */
type Words = readonly [
  flags: string,
  description: string,
  differs?: { parse?: Parse; fallback?: unknown },
];

/** The words of each field of an input, but for the values that a page has shown. */
export type OptionWords<Input extends TObject> = Readonly<
  Record<Exclude<keyof Static<Input>, "was">, Words>
>;

interface ActWords<Input extends TObject, T> {
  name: string;
  about: string;
  examples: readonly string[];
  /** Its argument: `<id>`, the sentence in the help, and differences from its schema. */
  subject?: readonly [flags: string, description: string, parse?: Parse];
  options?: OptionWords<Input>;
  /** The question for consent, and the message without it. */
  consent?: readonly [question: (id: never) => string, otherwise: string];
  /** The result to show. `id` is the subject's. */
  shown(done: T, id: unknown): object;
  /** The result for people; by default a line for each field. */
  people?(shown: object, done: T): string;
  /** Messages beside the result. */
  notes?(done: T, input: Static<Input>): readonly string[];
}

/** Adds a verb that does an act: its options and its argument are made of the act's schemas. */
export function actVerb<Input extends TObject, Id extends TSchema, T extends object>(
  noun: Command,
  output: () => Output,
  act: Act<Input, Id, T>,
  words: ActWords<Input, T>,
): void {
  const { subject, options, consent: asked, shown, people = card as never, notes } = words;
  const command = verb(noun, words.name, words.about, ...words.examples);
  if (subject !== undefined) {
    const [flags, description, parse = parserOf(act.id)] = subject;
    command.argument(flags, description, parse);
  }
  const read = withInput(command, act.input, options ?? ({} as OptionWords<Input>));
  if (asked !== undefined) command.option(...yesOption);
  command.action(async (...given: unknown[]) => {
    const out = output();
    const id = (subject === undefined ? undefined : given[0]) as Static<Id>;
    const typed = command.opts<{ yes?: boolean }>();
    const input = read(typed);
    if (asked !== undefined) await consent(out, typed.yes, asked[0](id as never), asked[1]);
    const done = await doAct(out, act, input, id);
    out.result(shown(done, id), (value) => people(value, done));
    for (const note of notes?.(done, input) ?? []) out.note(note);
  });
}

/** Does an act as whoever has typed the command. */
export const doAct = <Input extends TObject, Id extends TSchema, T extends object>(
  out: Output,
  act: Act<Input, Id, T>,
  input: Static<Input>,
  id: Static<Id>,
): Promise<T> =>
  withDb(out, async (db, config) => {
    const isStation = (act.id as TSchema) === stationId;
    const named = isStation ? await stationIdOf(db, id as string) : id;
    return act(await byOf(out, db, config), input, named as Static<Id>);
  });

/** The id of the station that was typed; ends the command where several sources have such a one. */
export async function stationIdOf(db: Db, text: string): Promise<string> {
  const { id, several } = await stationNamed(db, text);
  if (several !== undefined) throw new ExitError(several);
  return id;
}

/** The actor of a typed command, with its surroundings. */
export const byOf = async ({ actor }: Output, db: Db, config: Config): Promise<By> => ({
  ...{ db, config, actor, wake: (stationIds) => wakeMarks(config, stationIds) },
  now: await databaseNow(db),
});

/** Adds an option for each field of an input. Gives a function that makes the input from the typed options. */
export function withInput<Input extends TObject>(
  command: Command,
  input: Input,
  words: OptionWords<Input>,
): (typed: Readonly<Record<string, unknown>>) => Static<Input> {
  const { properties, required = [], minProperties = 0 } = input as Fields;
  const fields = Object.entries<Words>(words).map(([field, [flags, description, differs = {}]]) => {
    const schema = properties[field]!;
    const nullWord = isNullable(schema) ? /\|(\w+)>$/.exec(flags)?.[1] : undefined;
    const option = new Option(flags, description);
    option.argParser(differs.parse ?? parserOf(schema, nullWord));
    if (differs.fallback !== undefined) option.default(differs.fallback);
    else option.makeOptionMandatory(required.includes(field));
    fieldOf.set(option, field);
    command.addOption(option);
    return { field, name: option.attributeName(), nullWord };
  });
  return (typed) => {
    const given = fields.filter(({ name }) => typed[name] !== undefined);
    if (given.length < minProperties)
      throw new ExitError("nothing to change: give at least one option");
    const values = given.map(({ field, name, nullWord }) => [
      field,
      nullWord !== undefined && typed[name] === nullWord ? null : typed[name],
    ]);
    return Object.fromEntries(values) as Static<Input>;
  };
}

interface Fields {
  properties: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  minProperties?: number;
}

interface Schema extends TSchema {
  type?: string;
  anyOf?: readonly Schema[];
  items?: Schema;
  const?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  isTime?: boolean;
}

const isNullable = ({ anyOf = [] }: Schema): boolean => anyOf.some(({ type }) => type === "null");

/** A reader of a field's text. `nullWord` stands for null. */
function parserOf(schema: Schema, nullWord?: string): Parse {
  const { type, anyOf, items, minimum = 0, maximum = 0, maxLength } = schema;
  if (anyOf !== undefined && isNullable(schema)) {
    const parse = parserOf(anyOf.find((one) => one.type !== "null")!);
    return nullWord === undefined ? parse : wordOr(nullWord, parse);
  }
  if (anyOf !== undefined) return choice(anyOf.map((one) => one.const!));
  if (schema.isTime === true) return moment;
  if (type === "boolean") return flag;
  if (type === "integer") return integer(minimum, maximum);
  if (type === "array" && items?.anyOf !== undefined) {
    const parse = parserOf(items);
    return (typed) => entries(typed).map(parse);
  }
  if (type === "array") return entries;
  return line(maxLength!, (schema.minLength ?? 0) > 0 ? "not empty" : "may be empty");
}
