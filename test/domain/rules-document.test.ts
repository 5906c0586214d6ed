import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { examples, render } from "#test/domain/examples.ts";

const document = new URL("../../docs/rules.md", import.meta.url);
const begin =
  "<!-- worked examples: written by `WRITE_DOCS=1 npm test -- test/domain/rules-document.test.ts` -->";

describe("docs/rules.md", () => {
  it("shows for each worked example what decide says", () => {
    const text = readFileSync(document, "utf8");
    const [head] = text.split(begin);
    const wanted = `${head}${begin}\n\n${examples.map(render).join("\n\n")}\n`;
    if (process.env["WRITE_DOCS"] === "1") writeFileSync(document, wanted);
    else expect(text).to.equal(wanted);
  });
});
