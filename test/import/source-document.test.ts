import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { fileSpec } from "#src/import/records.ts";
import { shippedSources } from "#src/import/source-list.ts";
import { sourceSchema } from "#src/import/source.ts";

const document = new URL("../../docs/sources.md", import.meta.url);
const begin =
  "<!-- below: written by `WRITE_DOCS=1 npm test -- test/import/source-document.test.ts` -->";

interface Schema {
  description?: string;
  examples?: unknown[];
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
}

const { properties: keys = {} } = sourceSchema as unknown as Schema;
const conversions = keys["fields"]!.properties!["id"]!.anyOf!.find((one) => one.properties)!;

const groups: [title: string, words: string, schema: Schema][] = [
  [
    "A description",
    "A JSON object with these keys. An unknown key is refused.",
    sourceSchema as unknown as Schema,
  ],
  ["`files`", "A list; each entry has these keys.", keys["files"]!.items!],
  [
    "`read` of a file",
    "How the file is read. gz and zip are opened by themselves.",
    fileSpec as unknown as Schema,
  ],
  ["`fields`", "Ours, and where each comes from.", keys["fields"]!],
  [
    "Conversions",
    "In place of the name of a column or key: an object with these keys, applied in this order.",
    conversions,
  ],
  ["`fuels`", `${keys["fuels"]!.description!}.`, keys["fuels"]!],
  ["`stock`", `${keys["stock"]!.description!}.`, keys["stock"]!],
];

describe("docs/sources.md", () => {
  it("names every key of a description with an example, and every description", () => {
    const [head] = readFileSync(document, "utf8").split(begin);
    const tables = groups.map(
      ([title, words, schema]) => `## ${title}\n\n${words}\n\n${tableOf(schema)}`,
    );
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

const tableOf = ({ properties = {}, required = [] }: Schema): string =>
  [
    "| Key | Meaning | Example |\n| --- | --- | --- |",
    ...Object.entries(properties).map(([key, { description, examples, default: fallback }]) => {
      const notes = `${required.includes(key) ? " (required)" : ""}${fallback === undefined ? "" : ` (default ${JSON.stringify(fallback)})`}`;
      const shown = (examples ?? []).map(
        (one) => `\`${JSON.stringify(one).replaceAll("|", "\\|")}\``,
      );
      return `| \`${key}\` | ${(description ?? "see below").replaceAll("|", "\\|")}${notes} | ${shown.join(", ")} |`;
    }),
  ].join("\n");
