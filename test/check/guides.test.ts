import { readFileSync } from "node:fs";
import { expect } from "chai";
import { slugOf } from "#api/pages/docs/markdown.ts";

interface Part {
  level: number;
  slug: string;
  /** Blocks of code, what stands as code in the text, links to documents, and figures. */
  blocks: string[];
  code: string[];
  links: string[];
  numbers: string[];
}

function partsOf(path: string): Part[] {
  const text = readFileSync(path, "utf8");
  return text.split(/^(?=##+ )/m).map((part): Part => {
    const [, signs = "", title = ""] = /^(#+) (.*)$/m.exec(part)!;
    const blocks = part.match(/```[^]*?```/g) ?? [];
    const prose = blocks.reduce((rest, block) => rest.replace(block, ""), part);
    const plain = prose.replaceAll(/`[^`]+`|\]\([^)]*\)/g, "");
    return {
      ...{ level: signs.length, slug: slugOf(title), blocks },
      code: (prose.match(/`[^`]+`/g) ?? []).sort(),
      links: [...prose.matchAll(/\]\(([^)#][^)]*)\)/g)].map(([, link]) => link!).sort(),
      numbers: (plain.match(/\d+(\.\d+)?/g) ?? []).sort(),
    };
  });
}

describe("the guide in Russian", () => {
  const [english, russian] = [partsOf("docs/partners.md"), partsOf("docs/partners.ru.md")];

  it("has the sections, code, links and figures of the English one", () => {
    expect(english.length).to.be.above(10);
    const withoutTitles = (part: Part): Part => ({ ...part, slug: "" });
    expect(russian.map(withoutTitles)).to.deep.equal(english.map(withoutTitles));
  });

  it("leads to its own sections", () => {
    const text = readFileSync("docs/partners.ru.md", "utf8");
    const targets = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, target]) => target!);
    expect(targets.length).to.be.above(10);
    const slugs = russian.map(({ slug }) => slug);
    for (const target of targets) expect(slugs).to.include(target);
  });
});
