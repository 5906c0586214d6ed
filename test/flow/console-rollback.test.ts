import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import type { ConsoleRollback } from "#src/contract/console.ts";
import { createTestInstance, type TestInstance } from "#test/harness/instance.ts";
import { type RunningRole, startRole } from "#test/harness/roles.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { type ConsoleClient, signIn } from "#test/flow/console-client.ts";
import { type Country, openCountry, placeOf } from "#test/flow/country.ts";
import { addOperator, testPassword } from "#test/flow/operators.ts";
import { expectRefolded } from "#test/flow/refold.ts";

describe("flow: a campaign rolled back in the console", function () {
  let instance: TestInstance;
  let country: Country;
  let roles: RunningRole[];
  let partner: Client;
  let olga: ConsoleClient;

  before(async () => {
    instance = await createTestInstance();
    country = await openCountry(instance.config, 5);
    roles = await Promise.all(["web", "marks"].map((role) => startRole(role, instance.env)));
    partner = createClient(roles[0]!.baseUrl, country.secret);
    await addOperator(country.db, "olga", "operator");
    olga = await signIn(roles[0]!.baseUrl, { name: "olga", password: testPassword });
    for (const [n, user] of ["ann", "bob", "mal"].entries())
      await country.meet(user, 26 * 60 + n * 30);
  });
  after(async () => {
    await Promise.all(roles.map((role) => role.stop()));
    await country.close();
    await instance.drop();
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

    const done = await olga.call("POST", "/rollback", selected);
    expect(done.body).to.include({ marks: 3, stations: 3 });
    await until(
      () => rows(country.db, "select station_id from station_status where refold"),
      (left) => left.length === 0,
    );
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
