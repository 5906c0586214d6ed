import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { untilServed } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";
import { startRole } from "#test/harness/roles.ts";

/** The last stations of the row have no price at first. */
const known = 10;
const stations = 14;
const dry = { "X-Dry-Run": "1" };

describe("flow: a price far from those around waits for a second device", function () {
  const roles = ["web", "web", "marks", "snapshots", "clock"];
  const { instance, country, webs, clients } = useStage(stations, roles, {
    INSIGHTS_MS: "300",
  });

  before(async () => {
    // Known for days and hours apart, so that each driver is a device of its own.
    for (let n = 0; n < 20; n += 1) await country.meet(`driver ${n}`, 10_000 + n * 60);
  });

  const say = (
    station: number,
    driver: number,
    price: number,
    headers: Record<string, string> = {},
    client: Client = clients[driver % 2]!,
  ): Promise<Answer> =>
    client.mark(
      placeOf(station),
      `driver ${driver}`,
      { status: "yes", prices: { "95": price } },
      headers,
    );
  const expectServed = async (station: number, prices: string | undefined): Promise<void> => {
    await untilServed(country.db, webs);
    for (const client of clients) {
      const { fuel } = (await client.get(`/stations/${placeOf(station).id}`)).body.station;
      expect([fuel.status, fuel.prices], placeOf(station).id).to.deep.equal(["yes", prices]);
    }
  };
  const needs = (station: number) =>
    rows<{ prices_needed: unknown }>(
      country.db,
      "select prices_needed from marks where station_id = ? order by id",
      [placeOf(station).id],
    );

  it("takes every price where too few are known", async () => {
    for (let n = 0; n < known - 1; n += 1) await say(n, n, 58 + n / 2);
    const { body } = await say(known - 1, known - 1, 999, dry);
    expect(body.fuel.prices).to.equal("95=999.00");
    await say(known - 1, known - 1, 62);
  });

  it("tells a dry run so, on every process, once ten prices are known", async () => {
    for (const client of clients) {
      const { body } = await until(
        () => say(10, 10, 999, dry, client),
        (answer) => answer.body.fuel.prices === undefined,
      );
      expect(body.published).to.include({ outcome: "published", needed: 1, status: "yes" });
    }
    const { body } = await say(10, 10, 61, dry);
    expect(body.fuel.prices).to.equal("95=61.00");
  });

  it("serves the status of a lone driver at the station without the price", async () => {
    const { body } = await say(10, 10, 999);
    expect(body.published).to.include({ outcome: "published", needed: 1, status: "yes" });
    expect(body.fuel).to.not.have.property("prices");
    await expectServed(10, undefined);
    await say(3, 11, 999);
    await expectServed(3, "95=59.50");
    expect(await needs(10)).to.deep.equal([{ prices_needed: { "95": 2 } }]);
    expect(await needs(3)).to.deep.equal([{ prices_needed: null }, { prices_needed: { "95": 2 } }]);
  });

  it("serves the newer price when a second device states one within 5 % of it", async () => {
    expect((await say(10, 12, 980, dry)).body.fuel.prices).to.equal("95=980.00");
    await say(10, 13, 900);
    await expectServed(10, undefined);
    expect((await say(10, 12, 980)).body.fuel.prices).to.equal("95=980.00");
    await expectServed(10, "95=980.00");
  });

  it("knows what is usual at once in a process that has just started", async () => {
    const web = await startRole("web", instance.env);
    try {
      const client = createClient(web.baseUrl, country.secret);
      expect((await say(12, 16, 999, dry, client)).body.fuel).to.not.have.property("prices");
    } finally {
      await web.stop();
    }
  });
});
