import { type Static, type TSchemaOptions, Type } from "typebox";
import { grades } from "#src/domain/vocabulary.ts";
import { compileCheck } from "#src/infrastructure/validation.ts";
import { fileSpec } from "#src/import/records.ts";

// The description of a source: a JSON file. docs/sources.md is written from this schema, with an example for each key.

const closed = { additionalProperties: false };
const path = (description: string, ...examples: string[]) =>
  Type.String({ minLength: 1, maxLength: 1000, description, examples });
const list = (description: string, ...examples: string[][]) =>
  Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 50, description, examples });
const oneOf = <const Word extends string>(words: readonly Word[], more: TSchemaOptions = {}) =>
  Type.Unsafe<Word>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      more,
    ),
  );

/** Where a text comes from, and its conversions, which are applied in this order. */
const conversions = Type.Object(
  {
    from: Type.Optional(
      Type.Union([path("", "adresse"), list("", ["name", "brand"])], {
        description:
          "name of a column or key, with dots for one inside of another; of several, the first with a value",
        examples: ["location.latitude", ["trading_name", "brand_name"]],
      }),
    ),
    constant: Type.Optional(path("the same text for each row", "Eni")),
    template: Type.Optional(
      path(
        "a text with values in braces; a part between commas without any value is left out",
        "{Indirizzo}, {Comune}",
      ),
    ),
    split: Type.Optional(
      Type.Object(
        {
          by: Type.String({ minLength: 1, maxLength: 10 }),
          take: Type.Integer({ minimum: 0, maximum: 20 }),
        },
        {
          ...closed,
          description: "one part of the text, counted from 0",
          examples: [{ by: " - ", take: 0 }],
        },
      ),
    ),
    part: Type.Optional(
      oneOf(["street", "number", "postcode", "town"], {
        description: "a part of an address that is written in one text",
        examples: ["town"],
      }),
    ),
    lookup: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "other words for the whole text; a text that is not here stays",
        examples: [{ "Pompe Bianche": "" }],
      }),
    ),
    otherwise: Type.Optional(
      Type.String({
        maxLength: 200,
        description: "what a text becomes that `lookup` does not have",
        examples: [""],
      }),
    ),
    words: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "other words for parts of the text, the longest first",
        examples: [{ L: "Mo", D: "Su" }],
      }),
    ),
    decimal: Type.Optional(
      Type.Literal(",", { description: "numbers have a decimal comma", examples: [","] }),
    ),
    scale: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        description: "numbers are multiplied by this",
        examples: [0.00001],
      }),
    ),
  },
  closed,
);
export type Conversions = Static<typeof conversions>;
const value = (description: string, ...examples: unknown[]) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 200 }), conversions], {
    description,
    examples,
  });
/** Where a value comes from: a column or key, or that with conversions. */
export type Value = string | Conversions;

/** A condition for a row: the value is one of these texts. */
const condition = Type.Object(
  {
    value: value("the value that is compared", "temporary_closure"),
    is: list("the texts; `*` stands for any letters", ["true"]),
  },
  closed,
);
export type Condition = Static<typeof condition>;

const sold = oneOf([...grades, "none"]);

const fuels = Type.Object(
  {
    columns: Type.Optional(
      list("columns or keys, each of one fuel, which is sold if it has a price", [
        "prices.E10",
        "prices.B7",
      ]),
    ),
    list: Type.Optional(
      path("a list of names of fuels, or a text with commas, semicolons or bars", "fuel_types"),
    ),
    rows: Type.Optional(path("a list in the record with one entry for each fuel", "prix")),
    file: Type.Optional(path("the name of a second file with a row for each fuel", "prices")),
    station: Type.Optional(value("with `file`: the station's id in the second file", "idImpianto")),
    each: Type.Optional(
      Type.Literal(true, {
        description: "each row is one fuel of a station, which comes several times",
        examples: [true],
      }),
    ),
    fuel: Type.Optional(
      value("with `rows`, `file` or `each`: the name of the fuel", "descCarburante"),
    ),
    price: Type.Optional(
      value("its price: without one above 0 the fuel is not sold. Prices are not stored", {
        from: "Preco",
        decimal: ",",
      }),
    ),
    absent: Type.Optional(
      oneOf(["not sold", "unknown"], {
        description: "what it means that a fuel is not there; `unknown` for a file of changes",
        default: "not sold",
        examples: ["unknown"],
      }),
    ),
  },
  {
    ...closed,
    description:
      "which fuels a station sells; exactly one of columns, list, rows, file and each, or file with columns of that file",
  },
);

const stock = Type.Object(
  {
    rows: Type.Optional(path("a list in the record with one entry for each stock-out", "rupture")),
    file: Type.Optional(path("the name of a file with a row for each stock-out", "stockouts")),
    station: Type.Optional(value("with `file`: the station's id there", "station_id")),
    fuel: value("the name of the fuel that is out", "nom"),
    since: value("its beginning, in the time zone of the source", "debut"),
    until: Type.Optional(value("its end; none if it is still out", "fin")),
    final: Type.Optional({
      ...condition,
      description: "a stock-out of this kind means that the fuel is not sold",
      examples: [{ value: "@type", is: ["definitive"] }],
    }),
    not_sold_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        default: 30,
        description: "as old as this, it means that the fuel is not sold",
        examples: [30],
      }),
    ),
  },
  {
    ...closed,
    description: "stock-outs, which become imported statuses; exactly one of rows and file",
  },
);

const fields = Type.Object(
  {
    id: value(
      "the source's id of the station; ours is the source's name, a hyphen and this",
      "idImpianto",
    ),
    lat: value("latitude in degrees", { from: "Latitud", decimal: "," }),
    lon: value("longitude in degrees", { from: "@longitude", scale: 0.00001 }),
    name: Type.Optional(value("name", "Nome Impianto")),
    brand: Type.Optional(value("brand", { from: "Bandiera", lookup: { "Pompe Bianche": "" } })),
    operator: Type.Optional(value("the firm that runs it", "Gestore")),
    address: Type.Optional(
      value("the whole address, where the source has it in one text", "address"),
    ),
    street: Type.Optional(value("street", "street")),
    number: Type.Optional(value("house number", "house_number")),
    city: Type.Optional(value("town", "ville")),
    opening_hours: Type.Optional(
      value("opening hours as OpenStreetMap writes them", {
        from: "horaires.@automate-24-24",
        lookup: { "1": "24/7" },
      }),
    ),
  },
  {
    ...closed,
    description:
      "where each of our fields comes from: a column or key, or an object with conversions",
  },
);
export type SourceFields = Static<typeof fields>;

const file = Type.Object(
  {
    name: path("what is in it; the first file has the stations", "stations"),
    address: Type.Optional(
      path(
        "where it is fetched from: an address, or a file or folder of the server",
        "https://example.org/stations.csv",
      ),
    ),
    read: Type.Union([fileSpec, Type.Array(fileSpec, { minItems: 1, maxItems: 10 })], {
      description: "how it is read (below); of several ways the first that fits",
      examples: [{ format: "csv", encoding: "latin1" }],
    }),
    has: Type.Optional(
      list("columns or keys by which the file is recognised among several", [
        "idImpianto",
        "prezzo",
      ]),
    ),
  },
  closed,
);
export type SourceFile = Static<typeof file>;

export const sourceSchema = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z0-9][a-z0-9_-]{0,39}$",
      wanted: "be 1 to 40 small letters, digits, - and _",
      description: "its name, also the first part of ids",
      examples: ["it-mimit"],
    }),
    title: path("its name for people", "Italy: prices of the ministry MIMIT"),
    country: Type.Optional(
      Type.String({
        pattern: "^[A-Z]{2}$",
        wanted: "be two capital letters",
        description: "ISO code of the country that all its points are in",
        examples: ["IT"],
      }),
    ),
    licence: Type.Optional(path("licence of the data", "IODL 2.0")),
    credit: Type.Optional(path("who must be named", "MIMIT")),
    every: Type.Optional(
      Type.String({
        pattern: "^[1-9]\\d{0,3}(min|h|d)$",
        wanted: "be a number with min, h or d",
        description: "how often it changes",
        examples: ["24h"],
      }),
    ),
    checked: Type.Optional(
      path("what the description was tried with", "a real file of 2026-08-21"),
    ),
    timezone: Type.Optional(path("time zone of its times; UTC by default", "Europe/Paris")),
    stored_as: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9_-]{1,40}$",
        description:
          "the name under which rows are stored, where several descriptions are of one source",
        examples: ["osm"],
      }),
    ),
    as: Type.Optional(
      Type.Literal("osm", {
        description: "records are objects of OpenStreetMap: they need no fields",
        examples: ["osm"],
      }),
    ),
    files: Type.Array(file, { minItems: 1, maxItems: 5, description: "its files" }),
    fields: Type.Optional(fields),
    grades: Type.Optional(
      Type.Record(Type.String(), sold, {
        description:
          "the fuels of the source, and our grade for each; `none` for what is none of our grades. `*` stands for any letters; names without it come first, then the order of this list",
        examples: [{ Benzina: "95", "*Diesel*": "ДТ", GPL: "none" }],
      }),
    ),
    fuels: Type.Optional(fuels),
    stock: Type.Optional(stock),
    leave_out: Type.Optional(
      Type.Array(condition, {
        maxItems: 20,
        description: "rows that are no station in service",
        examples: [[{ value: "permanent_closure", is: ["true"] }]],
      }),
    ),
  },
  closed,
);
export type Source = Static<typeof sourceSchema>;
export type SourceFuels = NonNullable<Source["fuels"]>;
export type SourceStock = NonNullable<Source["stock"]>;

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

function contradictions({ as, fields, fuels, stock, files, grades, timezone }: Source): string[] {
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
    need(
      given(fuels, ["columns", "list", "rows", "each"]) +
        (fuels.file !== undefined && fuels.columns === undefined ? 1 : 0) ===
        1,
      "fuels: exactly one of columns, list, rows, file and each, or file with columns",
    );
    need(
      fuels.columns !== undefined || fuels.list !== undefined || fuels.fuel !== undefined,
      "fuels.fuel: Field required",
    );
  }
  if (stock !== undefined)
    need(given(stock, ["rows", "file"]) === 1, "stock: exactly one of rows and file");
  for (const [key, part] of Object.entries({ fuels, stock })) {
    if (part === undefined) continue;
    need(grades !== undefined, `grades: Field required, for ${key}`);
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
export function pathsOf({ fields, fuels, stock, leave_out: unwanted = [] }: Source): string[] {
  const values = [
    ...Object.values(fields ?? {}),
    ...[fuels?.station, fuels?.fuel, fuels?.price],
    ...[stock?.station, stock?.fuel, stock?.since, stock?.until, stock?.final?.value],
    ...unwanted.map(({ value }) => value),
  ];
  const lists = [...(fuels?.columns ?? []), fuels?.list, fuels?.rows, stock?.rows];
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
