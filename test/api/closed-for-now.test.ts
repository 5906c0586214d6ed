import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { hourMs } from "#src/domain/units.ts";
import { addKey, addPartner, useEdgeOn } from "#test/api/edge.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";

const place = { lat: 55.75, lon: 37.61 };
const box = "/stations?bbox=55.7,37.5,55.8,37.7";

describe("a station that is closed for now (decisions 14.57)", () => {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  const startedAt = Date.now();
  let now = startedAt;
  const web = useEdgeOn(instance, { clock: () => now });
  let client: Client;
  let key: string;
  const [in1h, in2h] = [1, 2].map((hours) => formatTime(startedAt + hours * hourMs));

  before(async () => {
    const partner = await addPartner(instance.db, { rpm: 100_000, daily: 1_000_000 });
    client = createClient(web.origin, (key = await addKey(instance.db, partner)));
    const state = serving("yes", startedAt, { fuelsNow: ["95"], fuelsNo: [] });
    await writeStations(instance.db, [
      { id: "open", ...place, opening_hours: "24/7", state },
      { id: "shut", ...place, opening_hours: "24/7", closed: "/", state },
      { id: "soon", ...place, closed: `${in1h}/${in2h}` },
    ]);
    await until(
      () => client.get(box),
      ({ body }) => body.count === 3,
    );
  });
  const ids = async (path: string): Promise<string[]> => {
    const { body } = await client.get(path);
    return (body.stations as { id: string }[]).map(({ id }) => id).sort();
  };

  it("is served with its status and its dates, in every form and in the delta", async () => {
    const { body } = await client.get(box);
    const closed = Object.fromEntries(
      (body.stations as { id: string; closed?: object }[]).map((one) => [one.id, one.closed]),
    );
    expect(closed).to.deep.equal({
      ...{ open: undefined, shut: { from: null, until: null }, soon: { from: in1h, until: in2h } },
    });
    const { body: one } = await client.get("/stations/shut");
    expect(one.station.fuel.status).to.equal("yes");
    const { body: delta } = await client.get(
      `/stations/delta?updated_since=${new Date(startedAt - hourMs).toISOString()}`,
    );
    expect(delta.stations).to.have.deep.members(body.stations);
    const headers = { Authorization: `Bearer ${key}` };
    const csv = await fetch(`${web.origin}/api/v1/partner/stations/all.csv`, { headers });
    expect(await csv.text()).to.contain(`"{""from"":""${in1h}"",""until"":""${in2h}""}"`);
  });

  it("is not open while it lasts, whatever its hours say, and time alone begins and ends it", async () => {
    for (const [at, open, shut] of [
      [startedAt, ["open"], ["shut"]],
      [startedAt + 1.5 * hourMs, ["open"], ["shut", "soon"]],
      [startedAt + 2 * hourMs, ["open"], ["shut"]],
    ] as const) {
      now = at;
      expect(await ids(`${box}&opened=true`)).to.deep.equal(open);
      expect(await ids(`${box}&opened=false`)).to.deep.equal(shut);
      expect(await ids("/stations/all?opened=false")).to.deep.equal(shut);
    }
  });

  it("can close and open again by a change of its row", async () => {
    await writeStations(instance.db, [{ id: "shut", ...place, opening_hours: "24/7", closed: "" }]);
    await until(
      () => client.get("/stations/shut"),
      ({ body }) => body.station.closed === undefined,
    );
    expect(await ids(`${box}&opened=true`)).to.deep.equal(["open", "shut"]);
  });
});
