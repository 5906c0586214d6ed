import { expect } from "chai";
import { mirror } from "#client/mirror.ts";
import { rows } from "#src/infrastructure/db.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { sized } from "#test/harness/long.ts";

const all = "/stations/all?limit=30000";
const [part, whole] = [placeOf(1), placeOf(2)];
const rounds = sized(2, 6);

describe("flow: stations that are joined and taken apart (decisions 14.29, 14.30)", function () {
  const stage = useStage(30, ["web", "web", "marks", "marks", "snapshots", "clock"], {
    SIGN_INS_PER_MINUTE: "1000",
    NEW_REPORTERS_DAILY: "1000000",
    MASS_NO_LIMIT: "1000000",
  });
  const { country, clients, operator } = stage;
  const olga = useAccount(country, () => stage.web.baseUrl);

  const merge = (id: string, other: string) =>
    olga.call("POST", `/stations/${id}/merge`, { other });
  const split = (id: string) => olga.call("POST", `/stations/${id}/split`, {});
  const settled = () =>
    until(
      () =>
        rows<{ n: number }>(
          country.db,
          `select (select count(*) from station_pairs where moving) + (select count(*) from station_status where refold)
             + (select count(*) from marks where processed_at is null) as n`,
        ),
      ([found]) => found!.n === 0,
    );
  const servedBy = (id: string) =>
    Promise.all(clients.map(async (one) => (await one.get(`/stations/${id}`)).body.station));
  const marksAt = async (id: string): Promise<number> =>
    (
      await rows<{ n: number }>(
        country.db,
        "select count(*) as n from marks where station_id = ?",
        [id],
      )
    )[0]!.n;

  it("lets an old id answer with the present station, with the marks of both", async () => {
    const since = (await clients[0]!.get(all)).body.as_of;
    const marked = await clients[0]!.mark(part, "ann", { status: "yes", fuels: ["95"] });
    expect(marked.status).to.equal(200);
    expect((await merge(part.id, whole.id)).status).to.equal(204);
    const [one] = await until(
      () => servedBy(part.id),
      (found) =>
        found.every((station) => station?.id === whole.id && station.fuel.status === "yes"),
    );
    expect(one.fuel).to.include({ status: "yes", fuels_now: "95" });
    const delta = (
      await clients[1]!.get(`/stations/delta?updated_since=${encodeURIComponent(since)}`)
    ).body;
    expect(delta.removed).to.deep.equal([part.id]);
    expect(delta.merged_into).to.deep.equal({ [part.id]: whole.id });
    expect(
      (await clients[1]!.get(`/stations?ids=${part.id},${placeOf(3).id}`)).body,
    ).to.deep.include({
      count: 2,
      missing: [],
    });
    const report = (await clients[1]!.get(`/reports/${marked.body.report_id}`)).body;
    expect(report.station_id).to.equal(whole.id);
    expect((await clients[0]!.get(`/stations/${part.id}/history`)).body.station_id).to.equal(
      whole.id,
    );
  });

  it("takes a mark for the old id as one of the present station", async () => {
    const { status, body } = await clients[1]!.mark(part, "bob", { status: "low" });
    expect(status).to.equal(200);
    expect(body.fuel.status).to.equal("low");
    expect((await servedBy(whole.id)).map(({ fuel }) => fuel.status)).to.include("low");
    await settled();
    expect([await marksAt(part.id), await marksAt(whole.id)]).to.deep.equal([0, 2]);
  });

  it("refuses what makes no sense, and says why", async () => {
    for (const [id, other, status] of [
      [whole.id, whole.id, 422],
      [part.id, placeOf(3).id, 409],
      [placeOf(3).id, part.id, 409],
      ["n9", whole.id, 404],
    ] as const)
      expect((await merge(id, other)).status, `${id} ${other}`).to.equal(status);
    expect((await split(whole.id)).status).to.equal(409);
    expect((await olga.call("POST", `/stations/${part.id}/reopen`, {})).status).to.equal(409);
    expect((await olga.call("GET", `/stations/${part.id}`)).body.joins.part_of).to.equal(whole.id);
  });

  it("gives back, when it is split, the marks that were the part's", async () => {
    expect((await operator("station", "split", part.id)).json).to.deep.equal({
      id: part.id,
      from: whole.id,
    });
    await settled();
    expect([await marksAt(part.id), await marksAt(whole.id)]).to.deep.equal([1, 1]);
    const [again] = await until(
      () => servedBy(part.id),
      (found) => found.every((station) => station?.id === part.id && station.fuel.status === "yes"),
    );
    expect(again.fuel.status).to.equal("yes");
    const kept = await servedBy(whole.id);
    expect(kept.map(({ fuel }) => fuel.status)).to.deep.equal(["low", "low"]);
    const log = (await olga.call("GET", "/log?q=station.")).body.entries.map(
      ({ action }: { action: string }) => action,
    );
    expect(log).to.include.members(["station.merge", "station.split"]);
  });

  it("loses no mark that arrives meanwhile, and every copy ends equal to the country", async () => {
    const copies = stage.webs.map(({ baseUrl }) =>
      mirror({ baseUrl, key: country.secret, pollMs: 200 }),
    );
    const before = (await marksAt(part.id)) + (await marksAt(whole.id));
    let sending = true;
    let accepted = 0;
    const send = async (client: (typeof clients)[number], name: string): Promise<void> => {
      for (let n = 0; sending; n += 1) {
        const to = n % 2 === 0 ? part : whole;
        const sent = await client.mark(to, `${name}-${n}`, { status: n % 3 === 0 ? "low" : "yes" });
        if (sent.status === 200 || sent.status === 202) accepted += 1;
        else expect(sent.status).to.equal(404);
      }
    };
    const senders = clients.map((client, n) => send(client, `crowd-${n}`));
    for (let round = 1; round <= rounds; round += 1) {
      expect((await merge(part.id, whole.id)).status).to.equal(204);
      const enough = accepted + 10;
      await until(
        async () => accepted,
        (count) => count >= enough,
      );
      if (round < rounds) expect((await split(part.id)).status).to.equal(204);
    }
    sending = false;
    await Promise.all(senders);
    await settled();
    expect(await marksAt(part.id)).to.equal(0);
    expect(await marksAt(whole.id)).to.equal(before + accepted);
    await olga.call("POST", `/stations/${whole.id}/close`, {});
    expect((await clients[0]!.get(`/stations/${whole.id}`)).status).to.be.oneOf([200, 404]);
    const truth = await until(
      () => Promise.all(clients.map(async (one) => (await one.get(all)).body.stations)),
      ([a, b]) => a.length === 28 && JSON.stringify(a) === JSON.stringify(b),
    );
    for (const copy of copies) {
      await until(
        async () => {
          await copy.refresh();
          return [...copy.stations.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
        },
        (stations) => JSON.stringify(stations) === JSON.stringify(truth[0]),
      );
      await copy.stop();
    }
  });
});
