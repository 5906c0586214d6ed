import { expect } from "chai";
import { dayMs } from "#src/domain/units.ts";
import { rows } from "#src/infrastructure/db.ts";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";

/** 30 km from each other. */
const place = (n: number) => placeOf(100 * n);

describe("flow: an operator's block", function () {
  const {
    country,
    operator,
    client,
    page: map,
  } = useStage(1200, ["web", "marks"], { TRUSTED_PROXIES: "127.0.0.1" });
  const soon = new Date(Date.now() + dayMs).toISOString().slice(0, 10);

  const say = async (n: number, user: string, headers = {}) =>
    (await client.mark(place(n), user, { status: "yes" }, headers)).body.published.outcome;
  const sayOnMap = async (n: number, device: string, address: string) => {
    const { id, lat, lon } = place(n);
    const body = { device, lat, lon, status: "yes" };
    const headers = { "X-Forwarded-For": address };
    return (await map.post(`/widget/stations/${id}/report`, body, headers)).body.published.outcome;
  };
  const held = () =>
    rows<{ id: number; reason: string; reporter: number; network: string | null }>(
      country.db,
      `select id, held_reason as reason, reporter_id as reporter, encode(viewer, 'hex') as network
       from marks where review = 'held' order by id`,
    );
  const lastMark = async () => {
    const [mark] = await rows<{ reporter: number; network: string | null }>(
      country.db,
      "select reporter_id as reporter, encode(viewer, 'hex') as network from marks order by id desc limit 1",
    );
    return mark!;
  };

  it("holds what a reporter sends from then on, and nobody else's, without an alarm", async () => {
    expect(await say(0, "liar")).to.equal("published");
    const { reporter } = await lastMark();
    await operator("reporter", "block", String(reporter), "--until", soon);
    expect(await say(1, "liar", { "X-Dry-Run": "1" })).to.equal("held");
    expect(await say(1, "liar")).to.equal("held");
    expect(await say(1, "honest")).to.equal("published");
    expect((await held()).map(({ reason }) => reason)).to.deep.equal(["block"]);
    expect(await rows(country.db, "select from alarms")).to.deep.equal([]);
  });

  it("holds what comes from a network of the map's viewers, also of new devices", async () => {
    expect(await sayOnMap(2, "device-1", "198.51.100.7")).to.equal("published");
    const { network } = await lastMark();
    await operator("network", "block", network!.slice(0, 8), "--until", soon);
    expect(await sayOnMap(3, "device-2", "198.51.100.7")).to.equal("held");
    expect(await sayOnMap(3, "device-3", "203.0.113.9")).to.equal("published");
    const listed = await operator("network", "list");
    expect(
      listed.json.map(({ kind, id }: { kind: string; id: string }) => [kind, id]),
    ).to.include.deep.members([["network", network]]);
  });

  it("keeps a held mark until an operator approves it; then it counts as any other", async () => {
    const [first] = await held();
    await operator("review", "approve", String(first!.id));
    const confirmations = async (): Promise<number> =>
      (await client.get(`/stations/${place(1).id}`)).body.station.fuel.confirmations;
    expect(await until(confirmations, (count) => count !== 1)).to.equal(2);
    expect((await held()).map(({ id }) => id)).to.not.include(first!.id);
  });

  it("ends at its time, and by a command", async () => {
    const [{ reporter } = { reporter: 0 }] = await rows<{ reporter: number }>(
      country.db,
      "update reporters set blocked_until = server_now() where blocked_until is not null returning id as reporter",
    );
    // Pending, because nobody moves so far so fast.
    expect(await say(4, "liar")).to.equal("pending");
    await operator("reporter", "block", String(reporter), "--until", soon);
    expect(await say(5, "liar")).to.equal("held");
    await operator("reporter", "block", String(reporter), "--until", "now");
    expect(await say(6, "liar")).to.equal("pending");
  });

  it("is refused for nobody, in the past, and for a network that is not known", async () => {
    for (const args of [
      ["reporter", "block", "999999", "--until", soon],
      ["reporter", "block", "1", "--until", "2020-01-01"],
      ["network", "block", "00000000", "--until", soon],
      ["network", "block", "xyz", "--until", soon],
    ])
      expect((await operator(...args)).code, args.join(" ")).to.not.equal(0);
  });
});
