import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { dayMs } from "#src/domain/units.ts";
import type { ConsoleNetwork, ConsoleRollback } from "#src/contract/console-review.ts";
import { until } from "#test/flow/client.ts";
import { useAccount } from "#test/flow/console-client.ts";
import { placeOf } from "#test/flow/country.ts";
import { expectRefolded, untilServed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

describe("flow: a campaign rolled back in the console", function () {
  const { instance, country, web, webs, client: partner } = useStage(5, ["web", "marks"]);
  const olga = useAccount(country, () => web.baseUrl);

  before(async () => {
    for (const [n, user] of ["ann", "bob", "mal"].entries())
      await country.meet(user, 26 * 60 + n * 30);
  });

  it("changes what its preview had shown, and nothing else", async () => {
    await partner.mark(placeOf(0), "ann", { status: "yes", fuels: ["95"] });
    await partner.mark(placeOf(0), "mal", { status: "low", prices: { "95": 70 } });
    await partner.mark(placeOf(1), "mal", { status: "queue", queue: "20+" });
    await partner.mark(placeOf(2), "bob", { status: "low" });
    await partner.mark(placeOf(2), "mal", { status: "low", limit_l: 10 });
    await partner.mark(placeOf(3), "bob", { status: "yes" });
    const fuelOf = async (id: string) => (await partner.get(`/stations/${id}`)).body.station.fuel;
    const untouched = await fuelOf(placeOf(3).id);
    const [mal] = await rows<{ id: number }>(
      country.db,
      "select reporter_id as id from marks where status = 'queue'",
    );
    const selected = { reporter: mal!.id };

    const preview = (await olga.call("POST", "/rollback/preview", selected))
      .body as ConsoleRollback;
    expect(preview).to.include({ marks: 3, held: 0, reporters: 1, stations: 3 });
    for (const { station_id: id, before } of preview.changes)
      expect(await fuelOf(id), id).to.deep.equal(before);
    const places = preview.changes.map(({ station_id: id, lat, lon }) => ({ id, lat, lon }));
    expect(places).to.have.deep.members([placeOf(0), placeOf(1), placeOf(2)]);

    const done = await olga.call("POST", "/rollback", selected);
    expect(done.body).to.include({ marks: 3, stations: 3 });
    await untilServed(country.db, webs);
    for (const { station_id: id, after } of preview.changes) {
      const fuel = await until(
        () => fuelOf(id),
        (one) => one.status === after.status && one.confirmations === after.confirmations,
      );
      expect(fuel, id).to.deep.equal(after);
    }
    expect(await fuelOf(placeOf(3).id)).to.deep.equal(untouched);
    await expectRefolded(country.db, instance.config);
    const [entry] = (await olga.call("GET", "/log?action=marks.rollback")).body.entries;
    expect(entry.details).to.include({ marks: 3, stations: 3, reporter: mal!.id });

    const again = (await olga.call("POST", "/rollback/preview", selected)).body;
    expect(again).to.include({ marks: 0, stations: 0 });
  });

  it("wants a selection that is not everything", async () => {
    const refused = await olga.call("POST", "/rollback/preview", { status: "no" });
    expect([refused.status, refused.body.detail[0].loc]).to.deep.equal([422, ["body", "since"]]);
    expect(refused.body.detail[0].msg).to.equal(
      "Give it, or a partner, key, reporter or station: a status alone would read every day that is kept",
    );
    for (const nothing of [{ key: 999_999 }, { station: "n404" }, { city: "Nowhere", since: 0 }])
      for (const path of ["/rollback/preview", "/rollback", "/review/preview"]) {
        const { status } = await olga.call("POST", path, nothing);
        expect(status, `${path} ${JSON.stringify(nothing)}`).to.equal(404);
      }
  });

  it("finds a reporter by what the partner calls it, and says what it did (decisions 13.25)", async () => {
    const [mal] = await rows<{ id: number }>(
      country.db,
      "select reporter_id as id from marks where status = 'queue'",
    );
    const named = { partner: country.partnerId, user_ref: "mal" };
    const { reporter } = (await olga.call("POST", "/reporters/find", named)).body;
    expect(reporter).to.include({ id: mal!.id, marks: 3, stations: 3, rejected: 3, held: 0 });
    const byNumber = await olga.call("GET", `/reporters/${mal!.id}`);
    expect(byNumber.body).to.deep.equal({ reporter });
    const nobody = await olga.call("POST", "/reporters/find", { ...named, user_ref: "Mal" });
    expect([nobody.status, nobody.body]).to.deep.equal([200, { reporter: null }]);
    const nowhere = await olga.call("POST", "/reporters/find", { ...named, partner: 999_999 });
    expect(nowhere.status).to.equal(404);
    const half = await olga.call("POST", "/reporters/find", { user_ref: "mal" });
    expect(half.status).to.equal(422);
    expect((await olga.call("GET", "/reporters/0")).status).to.equal(404);
  });

  it("names the networks that are held, blocked or in an alarm (decisions 13.24)", async () => {
    const hash = (start: string) => start.padEnd(64, "0");
    await rows(
      country.db,
      `insert into network_blocks (viewer, until) values
         (decode(?, 'hex'), server_now() + interval '1 day'), (decode(?, 'hex'), server_now() - interval '1 day')`,
      [hash("b10cb10c"), hash("dead0000")],
    );
    await rows(
      country.db,
      `insert into alarms (kind, subject, hour, raised_at, last_at, acknowledged_at) values
         ('marks-held', 'network a1a2a3a4', server_now(), server_now(), server_now(), null),
         ('marks-held', 'network b10cb10c', server_now(), server_now() - interval '30 days', server_now() - interval '30 days', null),
         ('marks-held', 'network 01dd01dd', server_now(), server_now() - interval '8 days', server_now() - interval '8 days', server_now()),
         ('marks-held', 'partner 1', server_now(), server_now(), server_now(), null)`,
    );
    const [held] = await rows<{ id: number }>(
      country.db,
      `update marks set review = 'held', source = 'widget', viewer = decode(?, 'hex')
       where id = (select min(id) from marks) returning id`,
      [hash("4e1d4e1d")],
    );
    expect(held).to.not.equal(undefined);
    const { networks } = (await olga.call("GET", "/networks")).body as {
      networks: ConsoleNetwork[];
    };
    expect(networks.map(({ network }) => network)).to.deep.equal([
      "4e1d4e1d",
      "a1a2a3a4",
      "b10cb10c",
    ]);
    const [first, second, third] = networks;
    expect(first).to.deep.include({ held: 1, alarm: null, blocked: null });
    expect(second).to.deep.include({ held: 0, blocked: null });
    expect(second!.alarm).to.be.closeTo(Date.now(), 60_000);
    expect(third!.blocked).to.be.closeTo(Date.now() + dayMs, 60_000);
    expect(third!.alarm).to.be.lessThan(Date.now() - 29 * dayMs);
  });

  it("tells the steps of a station, of which the last shows what the station shows", async () => {
    const { id } = placeOf(2);
    const page = (await olga.call("GET", `/stations/${id}`)).body;
    const outcomes = page.marks.map(({ review }: { review: string }) => review);
    expect(outcomes).to.deep.equal(["withdrawn", "none"]);
    expect(page.steps).to.have.length(1);
    expect(page.steps.at(-1)).to.include({ kind: "mark", effect: "published", have: 1, needed: 1 });
    expect(page.steps.at(-1).shown.status).to.equal(page.fuel.status);
    expect(page.fuel).to.deep.equal((await partner.get(`/stations/${id}`)).body.station.fuel);
  });
});
