import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { fileSpec } from "#src/import/records.ts";
import { shippedSources } from "#src/import/source-list.ts";
import { sourceSchema } from "#src/import/source.ts";

const document = new URL("../../docs/sources.md", import.meta.url);
const words = new URL("../../docs/sources.json", import.meta.url);
const begin =
  "<!-- below: written by `WRITE_DOCS=1 npm test -- test/import/source-document.test.ts` -->";

interface Schema {
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

/** What each key means, by the table that it stands in. */
const meanings = JSON.parse(readFileSync(words, "utf8")) as Record<
  string,
  Record<string, { meaning: string; examples: unknown[] }>
>;
const { properties: keys = {} } = sourceSchema as unknown as Schema;
const conversions = keys["fields"]!.properties!["id"]!.anyOf!.find((one) => one.properties)!;

const groups: [name: string, title: string, words: string, schema: Schema][] = [
  [
    "source",
    "A description",
    "A JSON object with these keys. An unknown key is refused.",
    sourceSchema as unknown as Schema,
  ],
  ["files", "`files`", "A list; each entry has these keys.", keys["files"]!.items!],
  [
    "read",
    "`read` of a file",
    "How the file is read. gz and zip are opened by themselves.",
    fileSpec as unknown as Schema,
  ],
  [
    "fields",
    "`fields`",
    "Ours, and where each comes from: a column or key, or an object with conversions.",
    keys["fields"]!,
  ],
  [
    "conversions",
    "Conversions",
    "In place of the name of a column or key: an object with these keys, applied in this order.",
    conversions,
  ],
  [
    "fuels",
    "`fuels`",
    "Which fuels a station sells: exactly one of columns, list, rows, file and each, or file with columns of that file.",
    keys["fuels"]!,
  ],
  [
    "stock",
    "`stock`",
    "Stock-outs, which become imported statuses: exactly one of rows and file.",
    keys["stock"]!,
  ],
  [
    "closed",
    "`closed`",
    "Stations that are closed for now, until a time or until a file says so no more. A date alone is the whole day.",
    keys["closed"]!,
  ],
];

describe("docs/sources.md", () => {
  it("names every key of a description with an example, and every description", () => {
    const [head] = readFileSync(document, "utf8").split(begin);
    const tables = groups.map(
      ([name, title, intro, schema]) => `## ${title}

${intro}

${tableOf(name, schema)}`,
    );
    for (const [name, , , { properties = {} }] of groups)
      expect(Object.keys(meanings[name]!), name).to.deep.equal(Object.keys(properties));
    const wanted = `${head}${begin}\n\n${shipped()}\n\n${tables.join("\n\n")}\n`;
    if (process.env["WRITE_DOCS"] === "1") writeFileSync(document, wanted);
    else expect(readFileSync(document, "utf8")).to.equal(wanted);
    expect(wanted).to.not.contain("undefined");
  });
});

const shipped = (): string =>
  [
    "## Descriptions that come with Fuelmark",
    "",
    "| Name | Content | Files | Licence | Tried with |",
    "| --- | --- | --- | --- | --- |",
    ...shippedSources.map(
      ({ name, title, files, licence, checked }) =>
        `| \`${name}\` | ${title} | ${files.map((file) => file.name).join(", ")} | ${licence ?? ""} | ${checked!.replaceAll("|", "\\|")} |`,
    ),
  ].join("\n");

const tableOf = (name: string, { required = [] }: Schema): string =>
  [
    "| Key | Meaning | Example |\n| --- | --- | --- |",
    ...Object.entries(meanings[name]!).map(([key, { meaning, examples }]) => {
      const shown = examples.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
      const told = `${meaning}${required.includes(key) ? " (required)" : ""}`;
      return `| \`${key}\` | ${told.replaceAll("|", "\\|")} | ${shown.replaceAll("|", "\\|")} |`;
    }),
  ].join("\n");
