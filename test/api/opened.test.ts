import { expect } from "chai";
import { dayMinutes, wallMinutes } from "#src/domain/wall-clock.ts";
import { minuteMs } from "#src/domain/units.ts";
import { addKey, addPartner, useEdgeOn } from "#test/api/edge.ts";
import { serving, writeStations } from "#test/api/reads-country.ts";
import { type Answer, type Client, createClient, until } from "#test/flow/client.ts";
import { useInstance } from "#test/harness/use.ts";
import { hoursAsText } from "#test/oracle/hours.ts";

const place = { lat: 55.75, lon: 37.61 };
const everyDay = [0, 1, 2, 3, 4, 5, 6];
const box = "/stations?bbox=55.7,37.5,55.8,37.7";

describe("what a station sells and when it is open (decisions 14.19 to 14.21)", () => {
  const instance = useInstance({ LOG_LEVEL: "silent" });
  // Time stands still but where the test lets it pass. The station opens at the second full minute from now.
  const startedAt = Date.now();
  const opensAt = (Math.floor(startedAt / minuteMs) + 2) * minuteMs;
  let now = startedAt;
  const clock = (): number => now;
  const webs = [useEdgeOn(instance, { clock }), useEdgeOn(instance, { clock })] as const;
  let secrets: Client[];
  let widgets: Client[];

  before(async () => {
    const limits = { rpm: 100_000, daily: 1_000_000, cache_ttl_s: 3600 };
    const partner = await addPartner(instance.db, limits);
    const secret = await addKey(instance.db, partner);
    const publishable = await addKey(instance.db, partner, "publishable");
    const from = wallMinutes(opensAt, "Europe/Moscow")! % dayMinutes;
    const today = hoursAsText([{ days: everyDay, from, to: from + 600 }]);
    const state = serving("yes", startedAt, { fuelsNow: ["95"], fuelsNo: ["98"] });
    await writeStations(instance.db, [
      { id: "always", ...place, opening_hours: "24/7", grades_sold: "92,95,98", state },
      { id: "soon", ...place, opening_hours: today, grades_sold: "92,95,ДТ" },
      { id: "never", ...place, opening_hours: "off", grades_sold: "98" },
      { id: "rubbish", ...place, opening_hours: "from dawn till dusk" },
      { id: "unsaid", ...place },
    ]);
    secrets = webs.map(({ origin }) => createClient(origin, secret));
    widgets = webs.map(({ origin }) => createClient(origin, publishable));
    for (const client of secrets)
      await until(
        () => client.get(box),
        ({ body }) => body.count === 5,
      );
  });

  const ids = ({ body }: Answer): string[] =>
    (body.stations as { id: string }[]).map(({ id }) => id).sort();
  const cacheOf = (answer: Answer): string | null => answer.headers.get("x-service-cache");

  it("is told of each station, and left out where it is unknown", async () => {
    const { body } = await secrets[0]!.get(box);
    const found = new Map(
      (body.stations as { id: string }[]).map((station) => [station.id, station]),
    );
    expect(found.get("always")).to.include({ grades_sold: "92,95,98", opening_hours: "24/7" });
    expect(found.get("rubbish")).to.include({ opening_hours: "from dawn till dusk" });
    expect(found.get("rubbish")).not.to.have.property("grades_sold");
    expect(found.get("unsaid")).not.to.have.any.keys("grades_sold", "opening_hours");
    const one = await secrets[1]!.get("/stations/never");
    expect(one.body.station).to.include({ grades_sold: "98", opening_hours: "off" });
    const delta = await secrets[1]!.get(
      "/stations/delta?updated_since=" + new Date(startedAt - 3600_000).toISOString(),
    );
    expect(delta.body.stations).to.have.deep.members([...found.values()]);
  });

  it("refuses other values", async () => {
    const [client] = secrets as [Client];
    for (const path of [box, "/stations/all?"]) {
      const grade = await client.get(`${path}&sells=98,93`);
      expect([grade.status, grade.body.type.split("/").at(-1)]).to.deep.equal([422, "bad-grade"]);
      expect(grade.body.detail).to.include('"93" in sells');
      const opened = await client.get(`${path}&opened=now`);
      expect(opened.status).to.equal(422);
      expect(opened.body.detail[0]).to.deep.include({ loc: ["query", "opened"], input: "now" });
    }
  });

  it("changes at the minute in every process, cached or not", async () => {
    const path = `${box}&opened=true`;
    now = opensAt - 1;
    const tags = await Promise.all(secrets.map((client) => client.get(path)));
    const etag = tags[0]!.headers.get("etag")!;
    for (const answer of tags) {
      expect(ids(answer)).to.deep.equal(["always"]);
      expect(answer.headers.get("etag")).to.equal(etag);
    }
    now = opensAt - 30_000;
    await until(
      () => widgets[0]!.get(path),
      (answer) => cacheOf(answer) === "hit",
    );
    const held = await widgets[1]!.get(path);
    expect([cacheOf(held), ...ids(held)]).to.deep.equal(["hit", "always"]);
    now = opensAt;
    for (const client of widgets)
      expect(ids(await client.get(path))).to.deep.equal(["always", "soon"]);
    for (const client of secrets) {
      const fresh = await client.get(path, { "If-None-Match": etag });
      expect([fresh.status, ...ids(fresh)]).to.deep.equal([200, "always", "soon"]);
      expect(ids(await client.get("/stations/all?opened=true"))).to.deep.equal(["always", "soon"]);
    }
    // Without that filter the same answer is good for longer.
    await until(
      () => widgets[0]!.get(box),
      (answer) => cacheOf(answer) === "hit",
    );
    now = opensAt + minuteMs;
    expect(cacheOf(await widgets[1]!.get(box))).to.equal("hit");
  });
});
