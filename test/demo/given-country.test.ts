import { expect } from "chai";
import { givenCountry } from "#demo/given-country.ts";

// Starts with one: test/long.
describe("the arguments of npm start", () => {
  const args = ["--source", "it-mimit", "--file", "docs/samples/it-mimit"];

  it("name the files of a country, or say what they must be", async () => {
    expect(await givenCountry([])).to.equal(null);
    const given = await givenCountry(args);
    expect(given).to.deep.include({ files: [args.at(-1)] });
    expect(given!.source.name).to.equal("it-mimit");
    const file = ["--file", args.at(-1)!];
    for (const [wrong, word] of [
      [["--source", "it-mimit"], "--file FILE"],
      [["--country", "IT"], "--file FILE"],
      [["x.csv"], "--file FILE"],
      [["--source", "it-mimitt", ...file], "no source of this name"],
      [["--source", "it-mimit", "--file", "docs/samples/stations.csv"], "no file of the source"],
      [["--file", "docs/none.csv"], "docs/none.csv"],
    ] as const) {
      const refused = await givenCountry(wrong).then(String, ({ message }) => String(message));
      expect(refused, wrong.join(" ")).to.contain(word);
    }
  });
});
