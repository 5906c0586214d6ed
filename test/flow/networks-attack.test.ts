import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { expectRefolded } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

/** Every second one: they are 600 m apart, so that no mark is near another's station. */
const place = (n: number) => placeOf(2 * n);
const stations = 36;
const networks = 13;
const cityLimit = 20;

// The same on 181 stations, with honest people beside: test/long/attacks.test.ts.
describe("flow: a city attacked from the map by made-up devices on many addresses", function () {
  const settings = { TRUSTED_PROXIES: "127.0.0.1" };
  const {
    instance,
    country,
    clients,
    pages: maps,
  } = useStage(2 * stations + 4, ["web", "web", "marks", "marks"], settings);

  /** A `no` at each station, each from a new device without a position. How many came to what. */
  const wave = async (number: number): Promise<Record<string, number>> => {
    const answers = await Promise.all(
      Array.from({ length: stations }, (_, n) => {
        const bot = number * stations + n;
        return maps[n % 2]!.post(
          `/widget/stations/${place(n).id}/report`,
          { device: `bot-${bot}`, status: "no" },
          { "X-Forwarded-For": `10.77.${bot % networks}.1` },
        );
      }),
    );
    const outcomes = answers.map(({ body }) => body.published.outcome as string);
    return Object.fromEntries(
      [...new Set(outcomes)].map((one) => [one, outcomes.filter((each) => each === one).length]),
    );
  };
  const shownAs = async (status: string): Promise<number> => {
    const { body } = await clients[1]!.get("/stations/all?limit=20000");
    return body.stations.filter(({ fuel }: { fuel: { status: string } }) => fuel.status === status)
      .length;
  };

  it("moves 20 stations in an hour, from any number of networks and processes; the rest is held", async () => {
    expect(await wave(0)).to.deep.equal({ pending: stations });
    // Devices first seen together are one: the second ones come later.
    await rows(country.db, "update reporters set first_seen = first_seen - interval '11 minutes'");
    expect(await wave(1)).to.deep.equal({ published: cityLimit, held: stations - cityLimit });
    await until(
      () => shownAs("no"),
      (count) => count === cityLimit,
    );
    await expectRefolded(country.db, instance.config);
  });

  it("has raised alarms that name the city and each network that went on", async () => {
    const alarms = await rows<{ subject: string; city: string; count: number }>(
      country.db,
      "select subject, city, count from alarms where kind = 'marks-held'",
    );
    expect(alarms.reduce((sum, { count }) => sum + count, 0)).to.equal(stations - cityLimit);
    expect(new Set(alarms.map(({ city }) => city))).to.deep.equal(new Set(["Тестоград"]));
    for (const { subject } of alarms) expect(subject).to.match(/^network [0-9a-f]{8}$/);
  });

  it("does not hold who has been known for a week, on an address of the attacker", async () => {
    await country.meetDevice("regular", 8 * 24 * 60);
    // 1.2 km from the last of the others: nobody has made a mark near it.
    const { lat, lon, id } = placeOf(2 * stations + 2);
    const { body } = await maps[0]!.post(
      `/widget/stations/${id}/report`,
      { device: "regular", status: "no", lat, lon },
      { "X-Forwarded-For": "10.77.0.1" },
    );
    expect(body.published).to.include({ outcome: "published", status: "no" });
  });
});
