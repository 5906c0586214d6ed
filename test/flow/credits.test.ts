import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { useFolder } from "#test/harness/use.ts";

describe("flow: who is named for the stations (decisions 14.41)", () => {
  const { country, page, web, operator } = useStage(3, ["web"], { POLL_MS: "20" });
  const named = async (): Promise<string[]> => (await page.get("/widget/config")).body.credits;
  const becomes = (credits: readonly string[]) =>
    until(named, (now) => JSON.stringify(now) === JSON.stringify(credits));
  const open = async (path: string, language = "en"): Promise<string> =>
    (await fetch(web.baseUrl + path, { headers: { "Accept-Language": language } })).text();
  const osm = "© OpenStreetMap contributors";
  const ministry = "Ministero delle Imprese e del Made in Italy";
  const folder = useFolder();

  const importOsm = async (id: number, ...more: string[]) => {
    const path = join(folder.path, `${id}.json`);
    const tags = { amenity: "fuel", name: `<b>${id}</b>`, "fuel:octane_95": "yes" };
    const elements = [{ type: "node", id, lat: 55.01, lon: 37.01, tags }];
    await writeFile(path, JSON.stringify({ elements }));
    return operator("stations", "import", path, ...more);
  };

  it("is nobody, until a source that asks for it has stations", async () => {
    expect(await named()).to.deep.equal([]);
    expect(await open("/list?status=any"))
      .to.include("3 stations")
      .and.not.include("Stations:");
    const samples = ["docs/samples/it-mimit", "--source", "it-mimit"];
    await operator("stations", "import", ...samples, "--dry-run");
    await operator("stations", "import", ...samples);
    await becomes([ministry]);
    await importOsm(7, "--source", "north");
    await importOsm(8, "--source", "south");
    await becomes([ministry, osm]);
  });

  it("stands on the list, the overview, a station's page and before the map, in both languages", async () => {
    for (const path of ["/list?status=any", "/list", "/overview", "/s/n7", "/s/nowhere", "/"]) {
      expect(await open(path), path).to.include(`Stations: ${ministry}, ${osm}`);
      const russian = `Станции: ${ministry}, © участники OpenStreetMap`;
      expect(await open(path, "ru"), path).to.include(russian);
    }
  });

  it("goes with the source's last station, not with those that are parts of others", async () => {
    await country.db("stations").where({ source: "south" }).update({ removed_at: new Date() });
    await country.db("stations").where({ source: "north" }).update({ removed_at: new Date() });
    await becomes([ministry]);
    await country.db("station_pairs").insert({
      ...{ station_id: "n7", into_id: "it-mimit-101", verdict: "joined", actor: "import" },
    });
    await becomes([ministry, osm]);
  });

  it("follows the description, and stands as text", async () => {
    const description = {
      ...{ name: "own", title: "Own", credit: "<b>Olga's list</b>" },
      files: [{ name: "stations", read: { format: "csv" } }],
      fields: { id: "id", lat: "lat", lon: "lon" },
    };
    const [path, csv] = [join(folder.path, "own.json"), join(folder.path, "own.csv")];
    await writeFile(csv, "id,lat,lon\n1,55.02,37.02\n");
    const importOwn = async (credit: object) => {
      await writeFile(path, JSON.stringify({ ...description, ...credit }));
      await operator("stations", "import", csv, "--source", path);
    };
    await importOwn({});
    await becomes(["<b>Olga's list</b>", ministry, osm].sort());
    expect(await open("/list"))
      .to.include("&lt;b&gt;Olga")
      .and.not.include("<b>Olga");
    await importOwn({ credit: undefined });
    await becomes([ministry, osm]);
  });
});
