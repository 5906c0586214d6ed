import { expect } from "chai";
import fc from "fast-check";
import {
  daysOf,
  feeds,
  judgeAll,
  judgeFeeds,
  type ServiceDay,
  type ServiceFacts,
  sumOf,
  withIncidents,
} from "#src/domain/service-state.ts";
import { dayMs, hourMs, minuteMs } from "#src/domain/units.ts";

const well: ServiceFacts = {
  ...{ postgres: true, writable: true, sends: true, readMs: 900, readLateMs: 5000, lagMs: 2000 },
  dump: { ms: 9000, ok: true },
  ...{ oldestMarkMs: 0, webhooksMs: 4000, webhooksLateMs: 20_000 },
};
const statesOf = (facts: Partial<ServiceFacts>): string =>
  judgeFeeds({ ...well, ...facts })
    .map(({ state }) => state[0])
    .join("");

describe("the state of the service", () => {
  // statuses, delta, dumps, marks, webhooks: ok, degraded, unknown.
  const cases: [what: string, facts: Partial<ServiceFacts>, states: string][] = [
    ["all is well", {}, "ooooo"],
    ["the change feed was read late", { readMs: 5001 }, "doooo"],
    ["the change feed was never read", { readMs: null }, "ddooo"],
    ["somebody's transaction holds the cursor", { lagMs: 30_001 }, "odooo"],
    ["the dump is old", { dump: { ms: hourMs, ok: false } }, "oodoo"],
    ["there is no dump", { dump: { ms: null, ok: false } }, "oodoo"],
    ["a mark waits for longer than a minute", { oldestMarkMs: 60_001 }, "ooodo"],
    ["nobody has looked at the marks yet", { oldestMarkMs: null }, "ooouo"],
    ["webhooks are not looked for", { webhooksMs: 20_001 }, "ooood"],
    ["nobody knows of webhooks", { webhooksMs: null }, "oooou"],
    ["nobody can send webhooks", { sends: false, webhooksMs: null }, "ooood"],
    ["Postgres takes no writes", { writable: false }, "ooodo"],
    ["Postgres is away", { postgres: false }, "ooodd"],
  ];
  for (const [what, facts, states] of cases)
    it(`is ${states} when ${what}`, () => expect(statesOf(facts)).to.equal(states));

  it("is as a whole as its worst feed", () => {
    const allOf = (facts: Partial<ServiceFacts>) => judgeAll(judgeFeeds({ ...well, ...facts }));
    expect([allOf({}), allOf({ webhooksMs: null }), allOf({ oldestMarkMs: 60_001 })]).to.deep.equal(
      ["ok", "unknown", "degraded"],
    );
    expect(allOf({ webhooksMs: null, readMs: null })).to.equal("degraded");
  });
});

describe("the state of the service with open incidents", () => {
  const reports = judgeFeeds({ ...well, webhooksMs: null });
  const told = fc.array(fc.subarray([...feeds]), { maxLength: 4 });

  it("degrades the feeds that they name, all when one names none, and no other", () => {
    fc.assert(
      fc.property(told, (named) => {
        const open = named.map((some) => ({ feeds: some }));
        const touched = named.some((some) => some.length === 0) ? feeds : named.flat();
        const found = withIncidents(reports, open);
        expect(found).to.deep.equal(
          reports.map((report) =>
            touched.includes(report.feed) ? { ...report, state: "degraded" } : report,
          ),
        );
        expect(judgeAll(found)).to.equal(open.length > 0 ? "degraded" : "unknown");
      }),
    );
  });
});

describe("the days of the service", () => {
  const today = 20_000 * dayMs;
  const stored = fc.array(
    fc.record({
      at: fc.nat(95).map((n) => today - n * dayMs),
      feed: fc.constantFrom(...feeds),
      first: fc.nat(1439),
      well: fc.nat(1440),
    }),
    { maxLength: 30 },
  );

  it("count no minute before the record, and never more well ones than there were", () => {
    fc.assert(
      fc.property(stored, fc.nat(dayMs - 1), (days: ServiceDay[], passed) => {
        const found = daysOf(days, 90, today + passed);
        expect(found.map(({ at }) => at)).to.deep.equal(
          Array.from({ length: 90 }, (_, n) => today - (89 - n) * dayMs),
        );
        const begun = Math.min(...days.map(({ at, first }) => at + first * minuteMs));
        for (const day of found)
          for (const feed of feeds) {
            const minutes = day.feeds[feed];
            if (day.at + dayMs <= begun && !days.some(({ at }) => at === day.at))
              expect(minutes).to.equal(null);
            if (minutes !== null) expect(minutes.well).to.be.within(0, minutes.of);
            if (day.at > begun && day.at < today) expect(minutes!.of).to.equal(1440);
          }
        const sum = sumOf(found, "dumps");
        if (sum !== null) expect(sum.well).to.be.at.most(sum.of);
      }),
    );
  });

  it("take a day that nobody counted for one without a well minute", () => {
    const first: ServiceDay = { at: today - 2 * dayMs, feed: "marks", first: 1380, well: 60 };
    const found = daysOf([first], 4, today + 5.5 * minuteMs);
    expect(found.map(({ feeds }) => feeds.marks)).to.deep.equal([
      null,
      { well: 60, of: 60 },
      { well: 0, of: 1440 },
      { well: 0, of: 5 },
    ]);
  });
});
