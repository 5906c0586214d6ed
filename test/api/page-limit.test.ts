import { expect } from "chai";
import { citiesTable, type Choice } from "#api/pages/overview-table.ts";
import { useEdge } from "#test/api/edge.ts";
import { noCounts, noTimes } from "#src/domain/insights.ts";
import { dayMs } from "#src/domain/units.ts";

describe("api: what pages without a key may cost", () => {
  const edge = useEdge({ settings: { PAGES_PER_MINUTE: "3", TRUSTED_PROXIES: "127.0.0.1" } });
  const ask = (path: string, ip: string, accept = "*/*"): Promise<Response> =>
    fetch(edge.origin + path, { headers: { "X-Forwarded-For": ip, Accept: accept } });

  it("refuses a network that asks for pages without end, and nobody else", async () => {
    // A minute may begin in between: its limit is then met once more.
    const statuses: number[] = [];
    for (let n = 0; n < 8; n++) statuses.push((await ask("/overview?all=1", "8.8.8.8")).status);
    expect(statuses.filter((status) => status === 200)).to.have.length.within(3, 6);
    const refused = await ask("/list", "8.8.8.8");
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
    expect(await refused.json()).to.include({ limit: 3, window: "60s" });
    expect((await ask("/list", "9.9.9.9")).status).to.equal(200);
  });

  it("counts a file as a tenth, no probe, and what only ends like a file as a page", async () => {
    for (let n = 0; n < 15; n++)
      expect((await ask("/assets/x.css", "7.7.7.7")).status).to.be.oneOf([200, 404]);
    for (let n = 0; n < 9; n++) expect((await ask("/healthz", "7.7.7.7")).status).to.equal(200);
    expect((await ask("/list", "7.7.7.7")).status).to.equal(200);
    const statuses: number[] = [];
    for (let n = 0; n < 8; n++) statuses.push((await ask(`/s/x${n}.css`, "6.6.6.6")).status);
    expect(statuses).to.include(429);
  });

  it("shows the cities of a large country in pages, each of which leads to its neighbours", () => {
    const cities = Array.from({ length: 120 }, (_, n) => ({
      ...{ id: `c${n}`, name: `City ${n}`, region: "", lat: 50, lon: 40, population: 1000 - n },
    })) as never[];
    const days = [{ at: Date.UTC(2026, 0, 1), cities: { c3: noTimes() } }];
    const latest = {
      ...{ cities, days, counts: { c3: { ...noCounts(), stations: 7 } } },
      ...{ today: { at: Date.UTC(2026, 0, 2), cities: {}, lengthMs: dayMs / 2 }, asOfMs: 0 },
    };
    const rowsOf = (page: number): [string[], string] => {
      const choice = { language: "en", lang: "", days: 90, of: "no", sort: "size", isUp: false };
      const { html } = citiesTable(latest, {
        ...choice,
        page,
        city: "",
        embed: false,
        key: "",
      } as Choice);
      return [[...html.matchAll(/>(City \d+)</g)].map(([, name]) => name!), html];
    };
    const [first, firstPage] = rowsOf(1);
    const [second, secondPage] = rowsOf(2);
    const [last, lastPage] = rowsOf(99);
    expect([...first, ...second, ...last]).to.deep.equal(cities.map(({ name }) => name));
    expect(firstPage)
      .to.include("Cities 1 to 50 of 120.")
      .and.include("page=2")
      .and.not.include(">Back<");
    expect(secondPage).to.include("Back").and.include("page=3");
    expect(lastPage).to.include("Cities 101 to 120 of 120.").and.not.include(">Next<");
  });
});
