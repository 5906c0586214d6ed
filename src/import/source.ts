import { type Static, type TSchema, Type } from "typebox";
import { grades } from "#src/domain/vocabulary.ts";
import { compileCheck } from "#src/infrastructure/validation.ts";
import { fileSpec } from "#src/import/records.ts";

// The description of a source: a JSON file. What each key means, with an example, is in docs/sources.json, from which
// docs/sources.md is written; a test compares its keys with this schema.

const optional = Type.Optional;
const text = Type.String({ minLength: 1, maxLength: 1000 });
const list = Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 50 });
const words = Type.Record(Type.String(), Type.String());
const like = (pattern: string, wanted: string) => Type.String({ pattern, wanted });
const oneOf = <const Word extends string>(all: readonly Word[]) =>
  Type.Unsafe<Word>(Type.Union(all.map((word) => Type.Literal(word))));
/** An object without other keys. */
const closed = <const Keys extends Record<string, TSchema>>(keys: Keys) =>
  Type.Object(keys, { additionalProperties: false });

/** Where a text comes from, and its conversions, which are applied in this order. */
const conversions = closed({
  from: optional(Type.Union([text, list])),
  constant: optional(text),
  template: optional(text),
  split: optional(
    closed({
      by: Type.String({ minLength: 1, maxLength: 10 }),
      take: Type.Integer({ minimum: 0, maximum: 20 }),
    }),
  ),
  part: optional(oneOf(["street", "number", "postcode", "town"])),
  lookup: optional(words),
  otherwise: optional(Type.String({ maxLength: 200 })),
  words: optional(words),
  decimal: optional(Type.Literal(",")),
  scale: optional(Type.Number({ exclusiveMinimum: 0 })),
});
export type Conversions = Static<typeof conversions>;
const value = Type.Union([text, conversions]);
/** Where a value comes from: a column or key, or that with conversions. */
export type Value = string | Conversions;

/** A condition for a row: the value is one of these texts, in which `*` stands for any letters. */
const condition = closed({ value, is: list });
export type Condition = Static<typeof condition>;

const fuels = closed({
  columns: optional(list),
  list: optional(text),
  rows: optional(text),
  file: optional(text),
  station: optional(value),
  each: optional(Type.Literal(true)),
  fuel: optional(value),
  price: optional(value),
  absent: optional(oneOf(["not sold", "unknown"])),
});

/** Entries of a station that say from when until when something is so. */
const entries = {
  ...{ rows: optional(text), file: optional(text), station: optional(value) },
  ...{ until: optional(value), final: optional(condition) },
};
const stock = closed({
  ...entries,
  fuel: value,
  since: value,
  not_sold_days: optional(Type.Integer({ minimum: 1, maximum: 3650 })),
});
const closures = closed({ ...entries, when: optional(condition), since: optional(value) });

export const fields = closed({
  id: value,
  lat: value,
  lon: value,
  name: optional(value),
  brand: optional(value),
  operator: optional(value),
  address: optional(value),
  street: optional(value),
  number: optional(value),
  city: optional(value),
  opening_hours: optional(value),
});
export type SourceFields = Static<typeof fields>;

const file = closed({
  name: text,
  address: optional(text),
  read: Type.Union([fileSpec, Type.Array(fileSpec, { minItems: 1, maxItems: 10 })]),
  has: optional(list),
});
export type SourceFile = Static<typeof file>;

export const sourceSchema = closed({
  name: like("^[a-z0-9][a-z0-9_-]{0,39}$", "be 1 to 40 small letters, digits, - and _"),
  title: text,
  country: optional(like("^[A-Z]{2}$", "be two capital letters")),
  licence: optional(text),
  credit: optional(text),
  every: optional(like("^[1-9]\\d{0,3}(min|h|d)$", "be a number with min, h or d")),
  checked: optional(text),
  timezone: optional(text),
  stored_as: optional(like("^[A-Za-z0-9_-]{1,40}$", "be 1 to 40 letters, digits, - and _")),
  as: optional(Type.Literal("osm")),
  files: Type.Array(file, { minItems: 1, maxItems: 5 }),
  fields: optional(fields),
  grades: optional(Type.Record(Type.String(), oneOf([...grades, "none"]))),
  fuels: optional(fuels),
  stock: optional(stock),
  closed: optional(closures),
  leave_out: optional(Type.Array(condition, { maxItems: 20 })),
});
export type Source = Static<typeof sourceSchema>;
export type SourceFuels = NonNullable<Source["fuels"]>;

const check = compileCheck(sourceSchema, "body");

/** A description in a JSON value, or its faults as sentences, each of which begins with the key. */
export function readSource(value: unknown): { source: Source } | { faults: string[] } {
  const faults = check(value)?.map(
    ({ loc, msg }) => `${loc.slice(1).join(".") || "the file"}: ${msg}`,
  );
  if (faults !== undefined) return { faults };
  const source = value as Source;
  const wrong = contradictions(source);
  return wrong.length > 0 ? { faults: wrong } : { source };
}

/** The file of the source with this name, which `readSource` has found to be there. */
export const fileNamed = ({ files }: Source, name: string): SourceFile =>
  files.find((one) => one.name === name)!;

/** The name under which its rows are stored, which also begins their ids. */
export const storedAs = ({ name, stored_as }: Source): string => stored_as ?? name;

function contradictions(source: Source): string[] {
  const { as, fields, fuels, stock, closed: shut, files, grades, timezone } = source;
  const faults: string[] = [];
  const need = (good: boolean, words: string): void => void (good || faults.push(words));
  need(as === "osm" || fields !== undefined, 'fields: Field required, unless `as` is "osm"');
  need(
    files.length === 1 || files.every(({ has }) => has !== undefined),
    "files: each of several needs `has`",
  );
  const given = (of: object | undefined, names: readonly string[]): number =>
    names.filter((name) => name in (of ?? {})).length;
  if (fuels !== undefined) {
    const ways = given(fuels, ["columns", "list", "rows", "each"]);
    need(
      ways + given(fuels.columns === undefined ? fuels : {}, ["file"]) === 1,
      "fuels: exactly one of columns, list, rows, file and each, or file with columns",
    );
    need(
      fuels.columns !== undefined || fuels.list !== undefined || fuels.fuel !== undefined,
      "fuels.fuel: Field required",
    );
  }
  if (stock !== undefined)
    need(given(stock, ["rows", "file"]) === 1, "stock: exactly one of rows and file");
  need(given(shut, ["rows", "file"]) < 2, "closed: at most one of rows and file");
  for (const [key, part] of Object.entries({ fuels, stock, closed: shut })) {
    if (part === undefined) continue;
    need(grades !== undefined || part === shut, `grades: Field required, for ${key}`);
    if (part.file === undefined) continue;
    need(
      files.some(({ name }) => name === part.file),
      `${key}.file: no file has the name ${part.file}`,
    );
    need(part.station !== undefined, `${key}.station: Field required`);
  }
  need(timezone === undefined || isZone(timezone), `timezone: there is no time zone ${timezone}`);
  return faults;
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** All columns and keys that a description names. */
export function pathsOf(source: Source): string[] {
  const { fields, fuels, stock, closed: shut, leave_out: unwanted = [] } = source;
  const values = [
    ...Object.values(fields ?? {}),
    ...[fuels?.station, fuels?.fuel, fuels?.price],
    ...[stock?.station, stock?.fuel, stock?.since, stock?.until, stock?.final?.value],
    ...[shut?.station, shut?.when?.value, shut?.since, shut?.until, shut?.final?.value],
    ...unwanted.map(({ value }) => value),
  ];
  const lists = [...(fuels?.columns ?? []), fuels?.list, fuels?.rows, stock?.rows, shut?.rows];
  const named = values.flatMap((value) =>
    value === undefined || typeof value === "string"
      ? value
      : [
          value.from,
          ...Array.from(value.template?.matchAll(/\{([^{}]+)\}/g) ?? [], ([, path]) => path),
        ].flat(),
  );
  return [...named, ...lists].filter((path) => path !== undefined);
}
