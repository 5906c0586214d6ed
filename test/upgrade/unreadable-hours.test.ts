import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { up } from "#migrations/0064_empty_unreadable_hours.ts";
import { addKey, addPartner, bearer, useEdge } from "#test/api/edge.ts";
import { writeStations } from "#test/api/reads-country.ts";
import { until } from "#test/flow/client.ts";

describe("upgrade: hours that nobody can read for certain", () => {
  const edge = useEdge();

  it("are served no more, without a new import", async () => {
    const { db } = edge;
    const texts = ["L-V 8-20", "24/7", "Mo-Su 08:00-20:00", "ask inside", "", "L-V 8-20"];
    const lots = Array.from({ length: 1001 }, (_, n) => ({
      ...{ id: `m${n}`, lat: 56 + n / 1000, lon: 38 },
      opening_hours: "Lunes a viernes",
    }));
    await writeStations(db, [
      ...texts.map((opening_hours, n) => ({
        id: `s${n}`,
        lat: 55 + n / 10,
        lon: 37,
        opening_hours,
      })),
      ...lots,
    ]);
    await rows(db, "update stations set removed_at = now() where id = 's5'");
    await rows(
      db,
      `insert into station_edits (station_id, file_opening_hours) values ('s1', 'ask inside'), ('s2', '24/7')`,
    );
    await rows(
      db,
      `insert into station_own (station_id, fields) values ('s2', '{"opening_hours":{"file":"L-V 8-20","of":"s0"},"name":{"file":"A","of":"s0"}}')`,
    );
    const headers = bearer(await addKey(db, await addPartner(db)));
    const served = async (): Promise<string> => {
      const answer = await fetch(`${edge.url}/stations/all?limit=30000`, { headers });
      const { stations } = (await answer.json()) as { stations: { opening_hours?: string }[] };
      return [...new Set(stations.map((one) => one.opening_hours ?? ""))].sort().join();
    };
    await until(served, (found) => found.includes("Lunes") && found.includes("L-V"));
    for (const times of [1, 2]) {
      await up(db);
      await until(served, (found) => found === ",24/7,Mo-Su 08:00-20:00");
      const stored = await rows(
        db,
        "select distinct opening_hours as text from stations order by 1",
      );
      expect(stored, `${times}`).to.deep.equal(
        ["", "24/7", "Mo-Su 08:00-20:00"].map((text) => ({ text })),
      );
    }
    const edits = "select file_opening_hours as text from station_edits order by station_id";
    expect(await rows(db, edits)).to.deep.equal([{ text: "" }, { text: "24/7" }]);
    expect(await rows(db, "select fields from station_own")).to.deep.equal([
      { fields: { opening_hours: { file: "", of: "s0" }, name: { file: "A", of: "s0" } } },
    ]);
  });
});
