import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { useAccount } from "#test/flow/console-client.ts";
import { until } from "#test/flow/client.ts";
import { useStage } from "#test/flow/stage.ts";
import { idOf } from "#src/stations/own-ids.ts";
import { useFolder } from "#test/harness/use.ts";

describe("flow: ids of sources (decisions 14.43 to 14.47)", function () {
  const { country, client, web, operator } = useStage(2, ["web", "marks"], {
    SIGN_INS_PER_MINUTE: "1000",
  });
  const folder = useFolder();
  const olga = useAccount(country, () => web.baseUrl);
  const map = "id=id,lat=lat,lon=lon,brand=brand,addr=addr";

  let files = 0;
  const imported = async (source: string, lines: readonly string[], ...more: string[]) => {
    const path = join(folder.path, `${(files += 1)}.csv`);
    await writeFile(path, ["id;lat;lon;brand;addr", ...lines, ""].join("\n"));
    const { json } = await operator(
      "stations",
      "import",
      path,
      "--source",
      source,
      "--map",
      map,
      ...more,
    );
    return (json as { stations: Record<string, unknown> }).stations;
  };
  const get = (id: string) => client.get(`/stations/${encodeURIComponent(id)}`);
  const served = (id: string) =>
    until(
      () => get(id),
      ({ status }) => status === 200,
    );
  const one = async (id: string) => (await served(id)).body.station;

  const ring = [
    "А-12;55.1;37.5;Полюс;Мира, 5",
    "Б-12;55.2;37.5;Полюс;Мира, 6",
    "В-12;55.3;37.5;Полюс;Мира, 7",
  ];
  const marked = async (id: string, lat: number) => {
    await served(id);
    const sent = await client.mark({ id, lat, lon: 37.5 }, `driver-${id}`, { status: "no" });
    expect(sent.status).to.equal(200);
  };

  it("find a station as its source writes them, and each keeps its own in any order", async () => {
    expect(await imported("ring", ring)).to.include({ added: 3, refused: 0 });
    const ids = ["А-12", "Б-12", "В-12"].map((own) => idOf("ring", own));
    await marked(ids[1]!, 55.2);
    expect(await imported("ring", ring.toReversed(), "--replace-source")).to.include({
      unchanged: 3,
    });
    for (const [n, own] of ["А-12", "Б-12", "В-12"].entries()) {
      expect((await one(own)).id).to.equal(ids[n]);
      expect((await one(`ring:${own}`)).id).to.equal(ids[n]);
    }
    expect((await one("Б-12")).fuel.status).to.equal("no");
    const found = (await olga.call("GET", `/stations?q=${encodeURIComponent("Б-12")}`)).body
      .stations;
    expect(found[0].id).to.equal(ids[1]);
    expect((await operator("station", "show", "ring:А-12")).json).to.include({ id: ids[0] });
  });

  it("name the sources where several have the same one", async () => {
    await imported("one", ["77;56.1;37.5;Полюс;"]);
    await imported("two", ["77;56.2;37.5;Полюс;"]);
    await served("two-77");
    const { status, body } = await get("77");
    expect(status).to.equal(404);
    expect(body.detail).to.include("one:77 (one-77), two:77 (two-77)");
    expect((await one("two:77")).id).to.equal("two-77");
    expect((await get("nobody")).status).to.equal(404);
  });

  it("that a source changes leave one station under both, with its status", async () => {
    const rows = [4, 5, 6].map((n) => `44${n};57.${n};37.5;Полюс;Мира, ${n}`);
    await imported("old", rows);
    await marked("old-444", 57.4);
    const since = (await client.get("/stations/all?limit=100")).body.as_of as string;
    const next = [rows[0]!.replace("444", "990"), ...rows.slice(1)];
    expect(await imported("old", next, "--replace-source")).to.include({
      renumbered: 1,
      removed: 0,
    });
    for (const id of ["old-444", "old-990", "444", "990"]) {
      const { id: answered, fuel } = await one(id);
      expect([answered, fuel.status], id).to.deep.equal(["old-444", "no"]);
    }
    const delta = await client.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`);
    expect(delta.body.merged_into).to.deep.equal({ "old-990": "old-444" });
    expect(
      (await client.get("/stations/all?limit=100")).body.stations.filter(({ id }: { id: string }) =>
        id.startsWith("old-"),
      ),
    ).to.have.length(3);
  });
});
