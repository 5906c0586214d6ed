import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { alarmKinds } from "#src/contract/alarm-kinds.ts";
import { sentences } from "#src/contract/sentences.ts";
import { evidenceWords } from "#src/import/match-stations.ts";
import { russian as ofConsole } from "#web/console/russian/all.ts";
import { common } from "#web/console/russian/common.ts";
import { decisions } from "#web/console/russian/decisions.ts";
import { feeds } from "#web/console/russian/feeds.ts";
import { partners } from "#web/console/russian/partners.ts";
import { review } from "#web/console/russian/review.ts";
import { shell } from "#web/console/russian/shell.ts";
import { stations } from "#web/console/russian/stations.ts";
import { russian as ofDashboard } from "#web/dashboard/russian.ts";
import { russian as ofKit } from "#web/kit/russian.ts";

// TypeScript refuses a text that its table has not; here: what is in the tables is right and in use.
const tables: [string, Record<string, string>][] = [
  ["web/kit", ofKit],
  ["web/dashboard", ofDashboard],
  ["web/console", ofConsole],
];

/** What a folder says besides: the console says alarms, sentences and evidence that the server names. */
const alsoSaid: Record<string, string> = {
  "web/console": JSON.stringify({ alarmKinds, sentences, evidenceWords }),
};

/** The names of what is put into a text: `{used}`, and `{used|one|few|many}` for the form alone. */
const put = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted();
const forms = (text: string): string[][] =>
  [...text.matchAll(/\{(\w+\|[^}]*)\}/g)].map(([, form]) => form!.split("|"));

describe("words of the pages in Russian", () => {
  it("has one for each evidence of a pair of stations", () => {
    expect(evidenceWords.filter((word) => !(word in ofConsole))).to.deep.equal([]);
  });

  for (const [folder, table] of tables)
    it(`puts into each text of ${folder} what the English has, with two and three forms for a number`, () => {
      for (const [english, russian] of Object.entries(table)) {
        expect(put(russian), english).to.deep.equal(put(english));
        for (const [name, ...two] of forms(english)) {
          expect(put(english), english).to.include(name);
          expect(two, english).to.have.length(2);
        }
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
      const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => /\.tsx?$/.test(file) && !/^russian[./]/.test(file))
        .map((file) => readFileSync(`${folder}/${file}`, "utf8"))
        .concat(alsoSaid[folder] ?? "")
        .join("\n");
      // Names of closed sets come from the contract.
      const unused = Object.keys(table).filter(
        (text) => /[ A-Z]/.test(text) && !sources.includes(text),
      );
      expect(unused).to.deep.equal([]);
    });

  it("has each text of the console in one place", () => {
    const texts = [common, decisions, feeds, shell, partners, review, stations].flatMap(
      Object.keys,
    );
    expect(texts.filter((text, n) => texts.indexOf(text) !== n)).to.deep.equal([]);
    expect(texts).to.have.members(Object.keys(ofConsole));
  });

  it("has every alarm and every sentence that the console can show", () => {
    expect(ofConsole).to.include.keys(Object.values(sentences));
    for (const { title, meaning } of Object.values(alarmKinds))
      expect(ofConsole).to.include.keys(title, meaning);
  });
});
