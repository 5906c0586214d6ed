import { expect } from "chai";
import { until } from "#test/flow/client.ts";
import { placeOf } from "#test/flow/country.ts";
import { useStage } from "#test/flow/stage.ts";
import { startRole } from "#test/harness/roles.ts";

describe("flow: what reaches people", () => {
  const { instance, web, workers, client } = useStage(20, ["web", "marks"], {
    LOG_LEVEL: "debug",
  });

  it("a city is found by other ways to write it, and answered by its own name", async () => {
    const whole = await client.get(`/stations?city=${encodeURIComponent("Тестоград")}`);
    expect(whole.body.count).to.equal(20);
    for (const name of ["Testograd", "тесто-град"]) {
      const found = await client.get(`/stations?city=${encodeURIComponent(name)}`);
      expect(found.headers.get("etag"), name).to.equal(whole.headers.get("etag"));
    }
    const listed = await client.get("/cities?q=Testograd");
    expect(listed.body.cities.map((one: { name: string }) => one.name)).to.deep.equal([
      "Тестоград",
    ]);
    const unknown = await client.get("/stations?city=Testogorod");
    expect(unknown.body.type).to.match(/city-not-found$/);
    const map = await fetch(`${web.baseUrl}/list?city=Testograd`);
    expect(await map.text()).to.contain("Тестоград");
  });

  it("the country says when it last changed, and answers 304 by ETag alone", async () => {
    const lastModified = async (): Promise<[time: number, etag: string]> => {
      const { headers } = await client.get("/stations/all");
      return [Date.parse(headers.get("last-modified") ?? ""), headers.get("etag")!];
    };
    const [before, etag] = await lastModified();
    const next = Math.ceil(Date.now() / 1000) * 1000;
    await until(
      async () => Date.now(),
      (now) => now > next,
    );
    const { body } = await client.mark(placeOf(1), "reaching-1", { status: "yes" });
    expect(body.published.outcome).to.equal("published");
    const [changed, newer] = await lastModified();
    expect(newer).to.not.equal(etag);
    expect(changed).to.be.greaterThan(before).and.to.be.at.least(next).and.at.most(Date.now());
    // Two contents may be of this very second.
    const sameSecond = await client.get("/stations/all", {
      "If-Modified-Since": new Date(changed).toUTCString(),
    });
    expect(sameSecond.status).to.equal(200);
    const same = await client.get("/stations/all", { "If-None-Match": newer });
    expect(same.status).to.equal(304);
    expect(Date.parse(same.headers.get("last-modified") ?? "")).to.equal(changed);
  });

  it("the figures of cities are there at a first start before the dumps, which take minutes for a large country", async () => {
    const insights = () => client.get("/insights/cities");
    expect((await insights()).status).to.equal(503);
    workers.push(await startRole("clock", instance.env));
    const snapshots = await startRole("snapshots", instance.env);
    workers.push(snapshots);
    const done = await until(
      async () =>
        snapshots.lines.flatMap((line) => /"duty":"(\w+)".*"duty done"/.exec(line)?.[1] ?? []),
      (duties) => new Set(duties).size === 4,
      60_000,
    );
    expect(done[0]).to.equal("insights");
    const { body } = await until(insights, ({ status }) => status === 200);
    expect(body.country.stations).to.equal(20);
  });
});
