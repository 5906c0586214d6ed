import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { startRole } from "#test/harness/roles.ts";
import { type Answer, type Client, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { countUnprocessed, expectRefolded, untilServed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

const codeOf = ({ status, body }: Answer): string =>
  status < 300 ? body.published.outcome : String(body.type).split("/").at(-1)!;

describe("flow: a driver takes an own mark back", function () {
  const { pages, instance, country, webs, workers, clients, operator } = useStage(15, [
    "web",
    "web",
    "marks",
  ]);
  const maps = pages as [Client, Client];
  const at = (n: number, action: string) => `/widget/stations/${placeOf(n).id}/${action}`;
  const mark = (n: number, device: string, body: object, map = maps[0], prefer = "wait=10") => {
    const { lat, lon } = placeOf(n);
    return map.post(at(n, "report"), { device, lat, lon, ...body }, { Prefer: prefer });
  };
  const takeBack = (n: number, device: string, map = maps[1]) =>
    map.post(at(n, "take-back"), { device }, { Prefer: "wait=10" });
  const fuelOf = async (map: Client, n: number) =>
    (await map.get(`/stations/${placeOf(n).id}`)).body.station.fuel;
  const served = () => untilServed(country.db, webs);
  const makeOlder = (id: string, seconds: number) =>
    rows(
      country.db,
      "update marks set received_at = received_at - ?::int * interval '1 second' where id = ?",
      [seconds, id],
    );

  it("the station is as before on every process, in the delta too, and the next mark counts at once", async () => {
    const since = (await clients[0]!.get("/stations/all")).body.as_of;
    const blank = await fuelOf(maps[0], 1);
    const other = await takeBack(1, "d-1");
    expect([other.status, codeOf(other)]).to.deep.equal([409, "nothing-to-take-back"]);
    const wrong = await mark(1, "d-1", { status: "no", external_id: "said wrongly" });
    await served();
    expect((await fuelOf(maps[1], 1)).status).to.equal("no");
    expect(codeOf(await takeBack(1, "d-2"))).to.equal("nothing-to-take-back");

    const taken = await takeBack(1, "d-1");
    expect(taken.status, JSON.stringify(taken.body)).to.be.oneOf([200, 202]);
    expect(taken.body).to.include({ report_id: wrong.body.report_id, duplicate: false });
    await served();
    for (const map of maps) expect(await fuelOf(map, 1)).to.deep.equal(blank);
    const path = `/stations/delta?updated_since=${encodeURIComponent(since)}`;
    const { stations } = (await clients[1]!.get(path)).body as { stations: Listed[] };
    expect(stations.find(({ id }) => id === placeOf(1).id)?.fuel).to.deep.equal(blank);
    expect(codeOf(await takeBack(1, "d-1"))).to.equal("nothing-to-take-back");

    // A late retry of the mark that was taken back does not bring it back.
    const retried = await mark(1, "d-1", { status: "no", external_id: "said wrongly" }, maps[1]);
    expect(retried.body).to.include({ report_id: wrong.body.report_id, duplicate: true });
    const next = await mark(1, "d-1", { status: "no" }, maps[1]);
    expect([next.status, next.body.duplicate]).to.deep.equal([200, false]);
    expect(next.body.fuel).to.include({ status: "no", confirmations: 1 });
    // It counts as any: it may not be taken back as well, and it has a cooldown of its own.
    expect(codeOf(await takeBack(1, "d-1"))).to.equal("nothing-to-take-back");
    expect(codeOf(await mark(1, "d-1", { status: "yes" }))).to.equal("station-cooldown");
    await served();
    await expectRefolded(country.db, instance.config);
  });

  it("for two minutes, and not what an operator has withdrawn, which keeps its cooldown", async () => {
    const late = await mark(2, "d-late", { status: "yes" });
    await makeOlder(late.body.report_id as string, 121);
    const refused = await takeBack(2, "d-late");
    expect([refused.status, codeOf(refused)]).to.deep.equal([409, "nothing-to-take-back"]);
    expect(refused.body.detail).to.include("older than 2 minutes");

    await mark(3, "d-rolled", { status: "yes" });
    await operator("marks", "rollback", "--station", placeOf(3).id);
    expect(codeOf(await takeBack(3, "d-rolled"))).to.equal("nothing-to-take-back");
    expect(codeOf(await mark(3, "d-rolled", { status: "no" }))).to.equal("station-cooldown");
  });

  it("with the marks of others kept, and once where two processes are asked at the same moment", async () => {
    await mark(4, "d-else", { status: "low" });
    await mark(4, "d-own", { status: "low" });
    const both = await Promise.all(maps.map((map) => takeBack(4, "d-own", map)));
    expect(both.map(({ status }) => status < 300).sort()).to.deep.equal([false, true]);
    await served();
    expect(await fuelOf(maps[0], 4)).to.include({ status: "low", confirmations: 1 });
    await expectRefolded(country.db, instance.config);
  });

  it("counts towards the hour's cap of a device in its first day", async () => {
    for (const n of [5, 6, 7, 12, 13, 14]) {
      await mark(n, "d-cap", { status: "yes", lat: null, lon: null });
      await takeBack(n, "d-cap");
      await mark(n, "d-cap", { status: "yes", lat: null, lon: null });
    }
    expect(codeOf(await mark(8, "d-cap", { status: "yes" }))).to.equal("user-rate-limited");
  });

  it("also one that no worker has come to: it is never processed", async () => {
    await Promise.all(workers.map((role) => role.stop()));
    const queued = await mark(9, "d-queued", { status: "yes" }, maps[0], "respond-async");
    expect([queued.status, codeOf(queued)]).to.deep.equal([202, "queued"]);
    const taken = await maps[1].post(
      at(9, "take-back"),
      { device: "d-queued" },
      { Prefer: "respond-async" },
    );
    expect([taken.status, codeOf(taken)]).to.deep.equal([202, "queued"]);
    expect(await countUnprocessed(country.db)).to.equal(0);
    workers.splice(0, 1, await startRole("marks", instance.env));
    await served();
    const path = taken.headers.get("location")!.slice("/api/v1/partner".length);
    const state = await until(
      () => clients[0]!.get(path),
      ({ body }) => body.state === "processed",
    );
    expect(state.body.published).to.include({ outcome: "superseded", status: "nodata", have: 0 });
    expect(await fuelOf(maps[0], 9)).to.include({ status: "nodata", updated: "" });
    await expectRefolded(country.db, instance.config);
  });
});

interface Listed {
  id: string;
  fuel: object;
}
