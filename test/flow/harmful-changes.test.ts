import { expect } from "chai";
import { rows } from "#src/infrastructure/db.ts";
import { type Client, createClient, until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { addPartner } from "#test/flow/more-partners.ts";
import { expectRefolded } from "#test/flow/refold.ts";
import { useStage } from "#test/flow/stage.ts";

const dayMinutes = 24 * 60;
const stations = 82;
const army = 30;
const limit = 20;
/** Every second one: they are 600 m apart, so that no mark is near another's station. */
const place = (n: number) => placeOf(2 * n);

describe("flow: the review of harmful changes", function () {
  const { instance, country, web, clients, operator } = useStage(stations, [
    "web",
    "web",
    "marks",
    "marks",
  ]);
  const [first, second] = clients as [Client, Client];

  before(async () => {
    for (let n = 0; n < 41; n += 1) await country.meet(`army-${n}`, 26 * 60 + 15 * n);
    for (let n = 0; n < 10; n += 1) await country.meet(`regular-${n}`, 8 * dayMinutes + 15 * n);
  });

  const say = async (client: Client, n: number, user: string, status: string): Promise<string> =>
    (await client.mark(place(n), user, { status })).body.published.outcome as string;
  const servedNo = async (): Promise<number> => {
    const { body } = await first.get("/stations/all?limit=20000");
    return body.stations.filter(({ fuel }: { fuel: { status: string } }) => fuel.status === "no")
      .length;
  };
  const heldReasons = () =>
    rows<{ reason: string; count: number }>(
      country.db,
      "select held_reason as reason, count(*) from marks where review = 'held' group by 1 order by 1",
    );

  it("lets one key turn 20 stations to `no` in an hour, from any number of processes, and holds the rest", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: army }, (_, n) => say([first, second][n % 2]!, n, `army-${n}`, "no")),
    );
    expect(outcomes.filter((outcome) => outcome === "published").length).to.equal(limit);
    expect(outcomes.filter((outcome) => outcome === "held").length).to.equal(army - limit);
    await until(servedNo, (count) => count === limit);
    expect(await heldReasons()).to.deep.equal([{ reason: "source", count: army - limit }]);
    await expectRefolded(country.db, instance.config);
  });

  it("has raised one alarm about it, which names the source and says how many", async () => {
    const alarms = await rows<{ subject: string; count: number }>(
      country.db,
      "select subject, count from alarms where kind = 'marks-held'",
    );
    expect(alarms).to.deep.equal([
      { subject: `partner ${country.partnerId}`, count: army - limit },
    ]);
    const counted = await rows<{ from: string; to: string; count: number }>(
      country.db,
      `select from_status as "from", to_status as "to", count from harmful_changes where source_kind = 'partner'`,
    );
    expect(counted).to.deep.equal([{ from: "nodata", to: "no", count: limit }]);
  });

  it("does not hold those who have been known for a week", async () => {
    expect(await say(first, 31, "regular-0", "no")).to.equal("published");
  });

  it("does not hold what leads back to where a reviewed change led away from", async () => {
    const served = await rows<{ id: string }>(
      country.db,
      "select station_id as id from review_changes order by mark_id limit 3",
    );
    for (const [index, { id }] of served.entries()) {
      const n = Array.from({ length: army }, (_, one) => one).find((one) => place(one).id === id)!;
      expect(await say(first, n, `regular-${2 + index}`, "yes")).to.equal("published");
    }
  });

  it("holds other sources' newcomers as well once the city has had its share", async () => {
    const { secret } = await addPartner(country);
    const other = createClient(web.baseUrl, secret);
    expect(await say(other, 35, "stranger", "no")).to.equal("held");
    expect(await heldReasons()).to.deep.equal([
      { reason: "city", count: 1 },
      { reason: "source", count: army - limit },
    ]);
  });

  it("does not judge an approved mark again: what it needs was said when it was held", async () => {
    // `stranger` of the test before, a newcomer; what a known driver saw earlier arrives only now.
    const minutesAgo = new Date(Date.now() - 300_000).toISOString();
    const yes = { status: "yes", observed_at: minutesAgo };
    const late = await first.mark(place(35), "regular-6", yes);
    expect(late.body.published.outcome).to.equal("published");
    const [held] = await rows<{ id: number }>(
      country.db,
      "select id from marks where station_id = ? and review = 'held'",
      [place(35).id],
    );
    await operator("review", "approve", String(held!.id));
    const [judged] = await until(
      () =>
        rows<{ outcome: string; needed: number; rule: string }>(
          country.db,
          "select outcome, needed, rule from marks where id = ? and processed_at is not null",
          [held!.id],
        ),
      (found) => found.length === 1,
    );
    expect(judged).to.deep.equal({ outcome: "published", needed: 1, rule: "geolocated" });
    await expectRefolded(country.db, instance.config);
  });

  it("counts an approved mark whatever the limits say", async () => {
    const held = await first.mark(place(40), "army-40", { status: "no" });
    expect(held.body.published.outcome).to.equal("held");
    const id = String(held.body.report_id);
    await operator("review", "approve", id);
    const report = await until(
      () => second.get(`/reports/${id}`),
      (answer) => answer.body.published.outcome === "published",
    );
    expect(report.body.published).to.include({ status: "no", needed: 1, rule: "geolocated" });
    await expectRefolded(country.db, instance.config);
  });
});
