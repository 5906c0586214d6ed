import { readFile, readdir } from "node:fs/promises";
import { expect } from "chai";
import { migrations } from "#migrations/list.ts";

describe("the migrations", () => {
  let names: string[];
  before(async () => {
    const others = ["README.md", "list.ts"];
    names = (await readdir("migrations")).filter((name) => !others.includes(name)).sort();
  });
  const numberOf = (name: string): number => Number(name.slice(0, 4));

  it("are called NNNN_verb_noun.ts", () => {
    expect(names.filter((name) => !/^\d{4}_[a-z]+(_[a-z]+)+\.ts$/.test(name))).to.deep.equal([]);
  });

  it("are all on the list that the release role goes by", () => {
    expect(Object.keys(migrations).map((name) => `${name}.ts`)).to.deep.equal(names);
  });

  it("have a number of their own each", () => {
    const numbers = names.map(numberOf);
    expect(numbers.filter((one, index) => numbers.indexOf(one) !== index)).to.deep.equal([]);
  });

  it("leave out no number but those that the README names, and start at 1", async () => {
    const numbers = new Set(names.map(numberOf));
    const gaps: number[] = [];
    for (let one = 1; one < Math.max(...numbers); one += 1) if (!numbers.has(one)) gaps.push(one);
    const readme = await readFile("migrations/README.md", "utf8");
    const named = [...readme.matchAll(/^\| (\d{4}) +\| \S/gm)].map(([, number]) => Number(number));
    expect(gaps).to.deep.equal(named);
  });
});
