import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { loadConfig } from "#src/infrastructure/config.ts";
import { rows } from "#src/infrastructure/db.ts";
import { importSource } from "#src/import/import-source.ts";
import { isFault } from "#src/import/read-text.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { readSource, type Source } from "#src/import/source.ts";
import { fixtures } from "#test/import/source-fixtures.ts";
import { useFolder, useInstance } from "#test/harness/use.ts";

const counted = (name: string, country?: string): Source => {
  const read = readSource({
    ...{ name, title: "Counted", ...(country === undefined ? {} : { country }) },
    files: [{ name: "stations", read: { format: "csv" } }],
    fields: { id: "id", lat: "lat", lon: "lon", brand: "brand" },
  });
  if ("faults" in read) throw new Error(read.faults.join());
  return read.source;
};

describe("the same file a second time", () => {
  const instance = useInstance();
  const folder = useFolder();

  const once = async (source: Source, paths: readonly string[], replaceSource = false) => {
    const config = loadConfig({ DATABASE_URL: instance.databaseUrl });
    const done = await importSource(instance.db, config, {
      ...{ source, paths, dryRun: false, refusals: undefined, replaceSource, force: ["country"] },
      ...{ progress: () => undefined, waiting: () => undefined, touched: () => undefined },
    });
    if (isFault(done)) throw new Error(done.fault);
    return done.stations!;
  };
  const twice = async (source: Source, paths: readonly string[], replaceSource = false) => {
    await once(source, paths, replaceSource);
    const again = await once(source, paths, replaceSource);
    expect(again).to.include({ added: 0, changed: 0, removed: 0 });
  };
  const written = async (name: string, files: Record<string, string>): Promise<string[]> => {
    const own = join(folder.path, name.replaceAll(/\W/g, "-"));
    await mkdir(own);
    for (const [file, text] of Object.entries(files))
      await writeFile(join(own, file), text, text.includes("ISO-8859-1") ? "latin1" : "utf8");
    return Object.keys(files).map((file) => join(own, file));
  };
  const brandsOf = async (source: string): Promise<string[]> =>
    (
      await rows<{ brand: string }>(
        instance.db,
        "select brand from stations where source = ? order by id",
        [source],
      )
    ).map(({ brand }) => brand);

  for (const [name, { files }] of Object.entries(fixtures))
    for (const replace of [false, true])
      it(`changes nothing: ${name}${replace ? ", replacing" : ""}`, async () => {
        const paths = await written(`${name} ${String(replace)}`, files);
        await twice(sourceNamed(name.split(",")[0]!)!, paths, replace);
      });

  // The third stands in Argentina by the map that the country of a position is read from.
  const border =
    "id,lat,lon,brand\na1,-33.45,-70.66,COPEC\na2,-33.5,-70.7,COPEC\na3,-43.19,-71.861,COPEC\n";

  it("does not turn with the spellings that it has brought itself", async () => {
    await twice(counted("no-country"), await written("none", { "a.csv": border }), true);
    expect(await brandsOf("no-country")).to.deep.equal(["Copec", "Copec", "COPEC"]);
    // Those of others, and those of its own that a part of it leaves as they are, are followed.
    const part = await written("part", {
      "a.csv": "id,lat,lon,brand\nb1,10,-30,VELO\nb2,10.1,-30,VELO\n",
      "b.csv": "id,lat,lon,brand\nb3,10.2,-30,Velo\n",
    });
    await twice(counted("atlantic"), part.slice(0, 1));
    await twice(counted("atlantic"), part.slice(1));
    expect(await brandsOf("atlantic")).to.deep.equal(["VELO", "VELO", "VELO"]);
  });

  it("gives a brand the spelling of the description's country on both sides of a border", async () => {
    const paths = await written("border", { "a.csv": border });
    await twice(counted("cl-border", "CL"), paths);
    expect(await brandsOf("cl-border")).to.deep.equal(["Copec", "Copec", "Copec"]);
  });

  const real = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
  for (const [name, ...files] of [
    ["it-mimit", "it_mimit_20260821_anagrafica.csv", "it_mimit_20260821_prezzi.csv"],
    ["osm", "fi_nwru_osm_fuel_nodes.geojson"],
    ["osm", "ru_osm_fuel_16_cities.json"],
  ] as const)
    it(`changes nothing: ${files[0]!}`, async () => {
      if (!existsSync(real)) {
        console.log("      skipped: no folder ../shared/data with real extracts");
        return;
      }
      await twice(
        { ...sourceNamed(name)!, stored_as: files[0]!.replace(/\..*/, "") },
        files.map((file) => join(real, file)),
        true,
      );
    });
});
