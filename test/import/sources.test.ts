import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { gradesText } from "#src/domain/vocabulary.ts";
import { shownNames } from "#src/import/osm-station.ts";
import { knownBrands } from "#src/import/brand-names.ts";
import { guessSource } from "#src/import/guess-source.ts";
import { asFault, isFault } from "#src/import/read-text.ts";
import { findFiles } from "#src/import/source-files.ts";
import {
  readSourceFile,
  shippedSources,
  sourceFromMap,
  sourceNamed,
} from "#src/import/source-list.ts";
import { readSourceStations } from "#src/import/source-stations.ts";
import { readSource, type Source, storedAs } from "#src/import/source.ts";
import { trySource } from "#src/import/try-source.ts";
import { fixtures } from "#test/import/source-fixtures.ts";
import { useFolder } from "#test/harness/use.ts";

describe("descriptions of sources", () => {
  const folder = useFolder();

  const written = async (files: Record<string, string>): Promise<string[]> => {
    const own = await mkdtemp(join(folder.path, "files-"));
    const paths = Object.entries(files).map(async ([name, text]) => {
      // As its declaration says: Latin-1 has one byte for each of these letters.
      await writeFile(join(own, name), text, text.includes("ISO-8859-1") ? "latin1" : "utf8");
      return join(own, name);
    });
    return Promise.all(paths);
  };
  const read = async (source: Source, paths: readonly string[]) => {
    const options = { label: storedAs(source), now: Date.now(), progress: () => undefined };
    return readSourceStations(source, await findFiles(source, paths), options);
  };

  it("that come with Fuelmark are good, and each has a fixture", () => {
    for (const source of shippedSources)
      expect(readSource(source), source.name).to.deep.equal({ source });
    const named = Object.keys(fixtures).map((name) => name.split(",")[0]);
    expect(new Set(named)).to.deep.equal(new Set(shippedSources.map(({ name }) => name)));
  });

  for (const [name, { files, stations, reasons }] of Object.entries(fixtures)) {
    it(`read a file of the source's form: ${name}`, async () => {
      const source = sourceNamed(name.split(",")[0]!)!;
      // In whatever order they are named.
      const paths = (await written(files)).toReversed();
      const done = await read(source, paths);
      const gas = done.found.filter(({ sells }) => sells === "gas").length;
      const known = knownBrands(new Map());
      const lines = done.found
        .filter(({ sells }) => sells !== "gas")
        .map((one) => {
          const { brand } = shownNames(one, new Map(), known);
          const sold = one.grades_sold === null ? "?" : gradesText(one.grades_sold);
          const id = one.id.replace(/-[0-9a-f]{23}$/, "-HASH");
          return `${id} ${one.lat} ${one.lon} ${brand} | ${one.addr} | ${sold} | ${one.opening_hours}`.trim();
        });
      expect(lines).to.deep.equal(stations);
      expect({ ...done.reasons, ...(gas > 0 ? { "lpg-only": gas } : {}) }).to.deep.equal(reasons);
      expect(done.read).to.equal(done.found.length + done.refused + done.repeated);
      expect([...done.unknownFuels]).to.deep.equal([]);
      const guess = await guessSource(paths);
      expect(guess.name).to.equal(name.startsWith("osm") ? "osm" : source.name);
    });
  }
});

describe("a description of one's own", () => {
  const good = sourceNamed("it-mimit")!;
  const faultsOf = (value: unknown): readonly string[] => {
    const done = readSource(value);
    return "faults" in done ? done.faults : [];
  };

  it("is refused with the key that is wrong", () => {
    const { fields } = good;
    for (const [change, fault] of [
      [{ name: "It Mimit" }, "name: String should be 1 to 40 small letters, digits, - and _"],
      [{ title: undefined }, "title: Field required"],
      [{ country: "Italy" }, "country: String should be two capital letters"],
      [{ colour: "red" }, "colour: Unknown field"],
      [{ fields: { ...fields, lat: { form: "Latitudine" } } }, "fields.lat.form: Unknown field"],
      [
        { fields: { ...fields, lat: { from: "a", scale: 0 } } },
        "fields.lat.scale: Input should be greater than 0",
      ],
      [{ fields: undefined }, 'fields: Field required, unless `as` is "osm"'],
      [
        { grades: { Benzina: "97" } },
        "grades.Benzina: Input should be '92', '95', '98', '100', 'ДТ' or 'none'",
      ],
      [{ grades: undefined }, "grades: Field required, for fuels"],
      [{ fuels: { ...good.fuels, file: "other" } }, "fuels.file: no file has the name other"],
      [
        { fuels: { ...good.fuels, each: true } },
        "fuels: exactly one of columns, list, rows, file and each, or file with columns",
      ],
      [{ timezone: "Europe/Turin" }, "timezone: there is no time zone Europe/Turin"],
      [
        { files: [good.files[0], { ...good.files[1], read: { format: "xls" } }] },
        "files.1.read.format: ",
      ],
    ] as const) {
      const faults = faultsOf(JSON.parse(JSON.stringify({ ...good, ...change })));
      expect(faults.join("\n"), JSON.stringify(change)).to.contain(fault);
    }
    expect(faultsOf("it-mimit")[0]).to.contain("the file: ");
  });

  it("is a file, or columns named by hand, and a file is tried with it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fuelmark-"));
    try {
      const [own, broken, table] = ["own.json", "broken.json", "table.csv"].map((name) =>
        join(folder, name),
      );
      await writeFile(own!, JSON.stringify(good));
      await writeFile(broken!, '{"name": "x"');
      await writeFile(
        table!,
        "Code;Lat;Lon;Sign;Fuels;Phone\n1;55,5;37,5;Shell;95|diesel;1\n2;55,6;37,6;;95|kerosene;2\n3;0;0;;;3\n",
      );
      expect(await readSourceFile(own!)).to.deep.include({ name: "it-mimit" });
      const fault = await asFault(broken!, () => readSourceFile(broken!));
      expect(isFault(fault) && fault.fault).to.contain("this is no JSON");
      const map = sourceFromMap("id=Code,lat=Lat,lon=Lon,brand=Sign,fuels=Fuels");
      const tried = await trySource(map, [table!]);
      expect(tried).to.deep.include({ read: 3, stations: 2, refused: 1, unused: ["Phone"] });
      expect(tried.reasons).to.deep.equal({ "bad-position": 1 });
      expect(tried.refused_rows).to.deep.equal([
        { place: "line 4", id: "3", field: "lat, lon", value: "0 0", reason: "bad-position" },
      ]);
      expect(tried.unknown_fuels).to.deep.equal({ kerosene: 1 });
      expect(tried.coverage).to.include({ brand: 1, name: 0, grades_sold: 1 });
      expect(tried.grades).to.deep.equal({ "95": 1, ДТ: 1 });
      expect(tried.first[0]).to.include({
        id: "csv-1",
        lat: 55.5,
        brand: "Shell",
        grades_sold: "95,ДТ",
      });
      expect(tried.verdict).to.contain("add the unknown fuels");
      for (const [wrong, words] of [
        ["lat=Lat,colour=X", 'has "colour=X"'],
        ["lat=Lat,lon=Lon", "fields.id: Field required"],
      ] as const) {
        const refused = await asFault("--map", async () => sourceFromMap(wrong));
        expect(isFault(refused) && refused.fault).to.contain(words);
      }
      const none = await asFault(table!, () => guessSource([table!]));
      expect(isFault(none) && none.fault).to.contain("--map");
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
