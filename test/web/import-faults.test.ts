import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { projectRoot } from "#src/infrastructure/project-root.ts";
import { faults, reasons } from "#web/console/russian/faults.ts";
import { russianFault, translated } from "#web/console/russian/say-fault.ts";

const folders = ["src/import", "src/import/feeds", "workers/imports"];
const sources = folders
  .flatMap((folder) => readdirSync(`${projectRoot}/${folder}`).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(`${projectRoot}/${file}`, "utf8"));

/** The texts of these calls as they stand in the code, with `x` for what varies. */
function textsOf(code: string): string[] {
  const calls = [...code.matchAll(/(?:wrongFile|tooLong|refuse|overridable|new Error)\(/g)];
  return calls.flatMap(({ index, 0: { length } }) => {
    let depth = 1;
    let end = index + length;
    for (; depth > 0 && end < code.length; end += 1)
      depth += code[end] === "(" ? 1 : code[end] === ")" ? -1 : 0;
    return literalsIn(code.slice(index + length, end - 1));
  });
}

function literalsIn(code: string): string[] {
  const found: string[] = [];
  for (let i = 0; i < code.length; i += 1) {
    const quote = code[i]!;
    if (!"\"'`".includes(quote)) continue;
    let text = "";
    for (i += 1; i < code.length && code[i] !== quote; i += 1)
      if (quote === "`" && code.startsWith("${", i)) {
        let depth = 1;
        for (i += 2; depth > 0; i += 1) depth += code[i] === "{" ? 1 : code[i] === "}" ? -1 : 0;
        i -= 1;
        text += "x";
      } else text += code[i] === "\\" ? code[(i += 1)]! : code[i]!;
    found.push(text);
  }
  return found.filter((text) => / \S/.test(text));
}

/** Parts that begin or end a text, and what no operator reads. */
const parts =
  /^(: |; | after |compared|list "|x x$|x: x|no file|several|lat, lon$|this archive holds x,|x is not JSONx)/;

describe("faults of imports in Russian", () => {
  it("are there for every text of the server, with what varies in it", () => {
    const texts = [...new Set(sources.flatMap(textsOf))].filter((text) => !parts.test(text));
    expect(texts.length).to.be.greaterThan(70);
    const isSaid = (fault: string): boolean =>
      /[А-Яа-я]/.test(russianFault(fault, faults).replace("ничего не изменено", ""));
    const missing = texts.filter(
      (text) =>
        !isSaid(`F: ${text}; nothing was changed.`) &&
        !isSaid(`F: x; nothing was changed. ${text}`),
    );
    expect(missing).to.deep.equal([]);
    for (const [english, text] of Object.entries(faults)) {
      const placeholders = (of: string): string[] => (of.match(/\{\d\}/g) ?? []).sort();
      expect(placeholders(text), english).to.deep.equal(placeholders(english));
    }
  });

  it("are there for every reason of a row that is left out", () => {
    const codes = sources.flatMap((code) =>
      [
        ...code.matchAll(
          /(?:refused: |refuse\(\w+, |\bbad\(|return (?="disused|"closed|"[a-z]+-))"([a-z]+(?:-[a-z]+)*)"/gm,
        ),
      ].map(([, one]) => one!),
    );
    expect(codes.length).to.be.greaterThan(25);
    const written = [
      ...readFileSync(new URL("../../docs/imports.md", import.meta.url), "utf8").matchAll(
        /`(bad-[a-z]+|no-[a-z-]+|too-old|in-the-future|same-station|older-than-known|over|not-sold-here)`/g,
      ),
    ];
    const all = new Set([...codes, ...written.map(([, one]) => one!)]);
    expect([...all].filter((code) => reasons[code] === undefined)).to.deep.equal([]);
  });

  it("say the place, the matter and the remedy", () => {
    expect(
      russianFault(
        "a: b.csv, line 3: the heading has no column status; it names id, name; nothing was changed. The first line of such a file names the columns id, status, in any order.",
        faults,
      ),
    ).to.equal(
      "a: b.csv, строка 3: в заголовке нет столбца status; в нём id, name; ничего не изменено. Первая строка такого файла называет столбцы id, status в любом порядке.",
    );
    expect(
      russianFault(
        "F: it holds no readable status: all 2 entries were left out (bad-status 1, bad-time 1); nothing was changed. Is it the right file for this kind of content? docs/imports.md describes each format.",
        faults,
      ),
    ).to.equal(
      "F: в нём нет ни одной записи вида «читаемый статус»: все записи (2) пропущены (bad-status 1, bad-time 1); ничего не изменено. Тот ли это файл? Форматы описаны в docs/imports.md.",
    );
    expect(russianFault("Something new went wrong", faults)).to.equal("Something new went wrong");
    expect(translated("line 12", faults)).to.equal("строка 12");
  });
});
