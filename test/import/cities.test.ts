import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { importCities } from "#src/import/import-cities.ts";
import { isFault } from "#src/import/read-text.ts";
import { usualImport } from "#test/harness/import-stations.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const heading =
  "address,region_type,region,area_type,area,city_type,city,settlement_type,settlement,fias_id,geo_lat,geo_lon,population,foundation_year";
const fias = (digit: string): string => `${digit.repeat(8)}-0000-0000-0000-000000000000`;
const hflabs = [
  heading,
  `"г Москва",г,Москва,,,,,,,${fias("1")},55.75,37.61,11514330,1147`,
  `"Московская обл, г Клин",обл,Московская,г,Клин,,,,,${fias("2")},56.33,36.72,80584,1317`,
  `"Респ Крым, г Ялта, г Алупка",Респ,Крым,,,г,Ялта,г,Алупка,${fias("3")},44.41,34.04,7771,960`,
  `"г Кировск",обл,Мурманская,,,г,Кировск,,,${fias("4")},67.61,33.66,28639,1929`,
  `"г Кировск",обл,Ленинградская,,,г,Кировск,,,${fias("5")},59.87,30.98,25393,1929`,
  `"без имени",обл,Тверская,р-н,Какой-то,,,,,${fias("6")},57,35,1,1900`,
  "",
].join("\n");
const geo = (
  id: number,
  name: string,
  more: { kind?: string; code?: string; lat?: number } = {},
): string => {
  const { kind = "P", code = "PPL", lat = 60.1 } = more;
  return `${id}\t${name}\t${name}\t\t${lat}\t24.9\t${kind}\t${code}\tFI\t\t01\t\t\t\t658864\t\t26\tEurope/Helsinki\t2024-01-01`;
};

describe("importing cities", () => {
  const instance = useInstance();
  const folder = useFolder();

  beforeEach(() => instance.db.raw("truncate cities"));

  const run = async (content: string, more: { replaceSource?: boolean } = {}) => {
    const path = join(folder.path, "file");
    await writeFile(path, content);
    return importCities(instance.db, { ...usualImport, path, ...more });
  };
  const cities = () =>
    rows<{ name: string; region: string }>(
      instance.db,
      "select name, region from cities order by population desc",
    );

  it("finds the name of a federal city, of a town entered as a district, and of a town below another", async () => {
    const done = await run(hflabs);
    expect(done).to.deep.include({
      format: "hflabs",
      source: "hflabs",
      read: 6,
      added: 5,
      refused: 1,
      reasons: { "no-name": 1 },
    });
    expect(await cities()).to.deep.equal([
      { name: "Москва", region: "Москва" },
      { name: "Клин", region: "Московская область" },
      { name: "Кировск", region: "Мурманская область" },
      { name: "Кировск", region: "Ленинградская область" },
      { name: "Алупка", region: "Республика Крым" },
    ]);
    expect(await run(hflabs)).to.include({ added: 0, changed: 0, unchanged: 5 });
  });

  it("reads a GeoNames dump, where quotes mean nothing", async () => {
    const file = [
      geo(1, "Helsinki"),
      geo(2, 'Qu"oted'),
      geo(3, "Kallio", { code: "PPLX" }),
      geo(4, "Lake", { kind: "H", code: "LK" }),
      "",
    ].join("\n");
    const done = await run(file);
    expect(done).to.deep.include({
      format: "geonames",
      read: 4,
      added: 2,
      refused: 2,
      reasons: { "not-a-city-of-today": 1, "not-a-city": 1 },
    });
    expect((await cities()).map(({ name }) => name).sort()).to.deep.equal(["Helsinki", 'Qu"oted']);
  });

  it("keeps a city that a new file lacks, unless --replace-source says otherwise", async () => {
    await run(hflabs);
    const without = hflabs
      .split("\n")
      .filter((line) => !line.includes("Клин"))
      .join("\n");
    expect(await run(without)).to.include({ removed: 0 });
    expect(await run(without, { replaceSource: true })).to.include({ removed: 1 });
  });

  it("has a city once when another source brings it again", async () => {
    await run(geo(1, "Москва", { lat: 60.1 }));
    await run(hflabs);
    expect((await cities()).filter(({ name }) => name === "Москва")).to.have.length(2);
    await run(hflabs.replace("55.75,37.61", "60.1,24.95"));
    expect((await cities()).filter(({ name }) => name === "Москва")).to.have.length(1);
  });

  for (const [what, content] of Object.entries({
    "cut off in a line": hflabs.slice(0, -80),
    "cut off in its last year": hflabs.replace(/1900\n$/, "19"),
    "a dump cut off in its last date": `${geo(1, "Helsinki")}\n${geo(2, "Turku").slice(0, -3)}`,
    "another table": "id,name\n1,x\n",
    empty: "",
  })) {
    it(`refuses a file that is ${what}, whole`, async () => {
      expect(isFault(await run(content))).to.equal(true);
      expect(await cities()).to.deep.equal([]);
    });
  }
});
