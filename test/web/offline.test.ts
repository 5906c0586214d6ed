import { expect } from "chai";
import fc from "fast-check";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { searchCities, searchStations } from "#web/widget/offline/held-search.ts";
import { shellFor } from "#web/widget/offline/shell-text.ts";
import { toldAt } from "#web/widget/offline/told-at.ts";
import {
  isFinal,
  isOutdated,
  sentOf,
  type WaitingEntry,
} from "#web/widget/offline/waiting-entry.ts";

const box = (south: number, west: number, size: number) => ({
  ...{ south, west, north: south + size, east: west + size },
});

describe("web: the map without a network", () => {
  it("tells the age of the newest answer that holds the whole view, else of the oldest part", () => {
    const whole = { box: box(0, 0, 10), split: false, at: 5 };
    const part = { box: box(0, 0, 3), split: false, at: 9 };
    expect(toldAt([whole, part], [box(1, 1, 4)])).to.equal(5);
    expect(toldAt([whole, part], [box(1, 1, 1)])).to.equal(9);
    expect(toldAt([part, { ...whole, split: true }], [box(1, 1, 4)])).to.equal(9);
    expect(toldAt([whole], [box(20, 20, 1)])).to.equal(null);
    expect(
      toldAt([whole, { ...part, box: box(20, 20, 5) }], [box(1, 1, 1), box(21, 21, 1)]),
    ).to.equal(5);
  });

  it("never says that what is shown is younger than its newest answer", () => {
    const parts = fc.array(
      fc.record({
        box: fc.tuple(fc.nat(9), fc.nat(9), fc.integer({ min: 1, max: 9 })).map((at) => box(...at)),
        split: fc.boolean(),
        at: fc.nat(100),
      }),
    );
    fc.assert(
      fc.property(parts, (held) => {
        const told = toldAt(held, [box(3, 3, 2)]);
        return told === null || held.some(({ at, split }) => !split && at === told);
      }),
    );
  });

  const entry: WaitingEntry = {
    ...{ id: "m1", stationId: "n/1", title: "", status: "no", what: "confirm", tries: 1 },
    ...{ api: "", key: "", notBefore: 0, refused: null, saidAt: 1_760_000_000_000 },
    body: { status: "no", device: "d" },
  };

  it("sends a mark at once as it was said, and later as a report with its time", () => {
    expect(sentOf(entry, entry.saidAt + 5000)).to.deep.equal({
      path: "/widget/stations/n%2F1/confirm",
      body: { status: "no", device: "d", external_id: "m1" },
    });
    for (const [tries, lateMs] of [
      [2, 5000],
      [1, 2 * minuteMs],
      [3, 3 * hourMs],
    ] as const)
      expect(sentOf({ ...entry, tries }, entry.saidAt + lateMs)).to.deep.equal({
        path: "/widget/stations/n%2F1/report",
        body: {
          ...{ status: "no", device: "d", external_id: "m1" },
          observed_at: new Date(entry.saidAt).toISOString(),
        },
      });
  });

  it("leaves out a mark when a newer one of that station waits, and no other", () => {
    const newer = { ...entry, id: "m2", saidAt: entry.saidAt + hourMs };
    const isOut = (...all: WaitingEntry[]) => isOutdated(entry, all, entry.saidAt + 2 * hourMs);
    expect(isOut(entry, newer)).to.equal(true);
    const others = [
      ...[{ stationId: "n2" }, { api: "https://other.test" }, { saidAt: entry.saidAt - 1 }],
      // It can still be undone; it is refused; it is no mark.
      ...[{ notBefore: newer.saidAt + 2 * hourMs }, { what: "suggest" as const }],
      {
        refused: {
          kind: "refused" as const,
          status: 404,
          code: "x",
          window: "",
          retryAfterS: null,
        },
      },
    ];
    for (const other of others) expect(isOut(entry, { ...newer, ...other })).to.equal(false);
    expect(isOutdated({ ...entry, what: "suggest" }, [newer], newer.saidAt)).to.equal(false);
  });

  it("gives up a mark that is refused for what it is, and keeps one that may be taken later", () => {
    const refused = (status: number, code: string) =>
      isFinal({ ...{ kind: "refused", window: "", retryAfterS: null }, status, code });
    for (const code of ["station-cooldown", "user-rate-limited", "new-users-limit"])
      expect(refused(429, code), code).to.equal(true);
    expect(refused(422, "bad-timestamp")).to.equal(true);
    expect(refused(404, "station-not-found")).to.equal(true);
    expect(refused(429, "rate-limit-exceeded")).to.equal(false);
    expect(refused(401, "invalid-key")).to.equal(false);
    expect(refused(503, "upstream-unavailable")).to.equal(false);
    expect(refused(404, "")).to.equal(false);
  });

  it("shows the kept page without the stations of that time, also for a station's own page", () => {
    const text =
      '<meta name="root" content="" /><meta name="station" content="" /><script src="assets/a.js"></script>' +
      '<div id="app"></div><section id="early" aria-label="x"><p>1 min ago</p></section></body>';
    expect(shellFor(text, "")).to.equal(text.replace(/<section.*section>/, ""));
    const page = shellFor(text, 'n"1');
    expect(page).to.contain('name="root" content="../"').and.contain('src="../assets/a.js"');
    expect(page).to.contain('content="n&quot;1"').and.not.contain("1 min ago");
  });

  it("finds what is held: cities by a part of their name, stations by every word, the nearest first", () => {
    const city = (name: string, population: number) => ({
      ...{ name, population, region: "", lat: 0, lon: 0, zoom: 10 },
    });
    const cities = [city("Нижний Орёл", 9), city("Орёл", 3), city("Орск", 5)];
    expect(searchCities(cities, "оре").map(({ name }) => name)).to.deep.equal([
      "Орёл",
      "Нижний Орёл",
    ]);
    const station = (id: string, lat: number, addr: string) => ({
      ...{ id, lat, lon: 0, brand: "Лукойл", name: "АЗС 5", addr, fuel: {} as never },
    });
    const stations = [
      station("far", 2, "ул. Мира"),
      station("near", 1, "ул. Мира"),
      station("c", 0, ""),
    ];
    const found = searchStations(stations, " лукойл  МИРА", { lat: 0, lon: 0 });
    expect(found.map(({ id }) => id)).to.deep.equal(["near", "far"]);
  });
});
