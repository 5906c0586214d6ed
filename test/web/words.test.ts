import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { russian as ofDashboard } from "#web/dashboard/russian.ts";
import { russian as ofKit } from "#web/kit/russian.ts";

// TypeScript refuses a text that its table has not; here: what is in the tables is right and in use.
const tables: [string, Record<string, string>][] = [
  ["web/kit", ofKit],
  ["web/dashboard", ofDashboard],
];

/** The names of what is put into a text: `{used}`, and `{used|one|few|many}` for the form alone. */
const put = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted();
const forms = (text: string): string[][] =>
  [...text.matchAll(/\{(\w+\|[^}]*)\}/g)].map(([, form]) => form!.split("|"));

describe("words of the pages in Russian", () => {
  for (const [folder, table] of tables)
    it(`puts into each text of ${folder} what the English has, with three forms for a number`, () => {
      for (const [english, russian] of Object.entries(table)) {
        expect(put(russian), english).to.deep.equal(put(english));
        for (const [name, ...three] of forms(russian)) {
          expect(put(english), english).to.include(name);
          expect(
            three.filter((form) => form !== ""),
            english,
          ).to.have.length(3);
        }
        expect(russian, english).to.match(/\p{Script=Cyrillic}/u);
      }
    });

  for (const [folder, table] of tables)
    it(`has no text that ${folder} does not say`, () => {
      const sources = readdirSync(folder)
        .filter((file) => file !== "russian.ts" && /\.tsx?$/.test(file))
        .map((file) => readFileSync(`${folder}/${file}`, "utf8"))
        .join("\n");
      // Names of closed sets come from the contract.
      const unused = Object.keys(table).filter(
        (text) => /[ A-Z]/.test(text) && !sources.includes(text),
      );
      expect(unused).to.deep.equal([]);
    });
});
