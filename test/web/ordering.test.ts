import { expect } from "chai";
import fc from "fast-check";
import { type Order, ordered } from "#web/widget/ordering.ts";
import { hourMs } from "#src/domain/units.ts";

describe("web: the order of the nearest stations (decisions 15.43)", () => {
  const now = Date.UTC(2026, 0, 2, 12);
  const row = fc.record({
    distance: fc.integer({ min: 0, max: 60_000 }),
    station: fc.record({
      fuel: fc.record({
        status: fc.constant("yes" as const),
        updated: fc
          .integer({ min: 0, max: 24 * 60 })
          .map((min) => new Date(now - min * 60_000).toISOString()),
        prices: fc.constantFrom("", "95=61.50", "95=64.00,92=58.10", "92=57.00"),
      }),
    }),
  });
  const rows = fc
    .array(row, { maxLength: 30 })
    .map((all) => all.toSorted((a, b) => a.distance - b.distance));
  const orders = fc.constantFrom<Order>("near", "fresh", "cheap");

  it("loses no row and adds none, and sets apart what is older than twelve hours", () => {
    fc.assert(
      fc.property(rows, orders, (all, order) => {
        const { recent, old } = ordered(all, { order, grade: "95", now });
        expect([...recent, ...old]).to.have.members(all);
        const isOld = ({ station: { fuel } }: (typeof all)[number]) =>
          now - Date.parse(fuel.updated) >= 12 * hourMs;
        expect(recent.some(isOld)).to.equal(false);
        expect(old.every(isOld)).to.equal(true);
      }),
    );
  });

  it("puts first what was told last, or the cheapest; unknown prices are last, and the nearest of equals first", () => {
    const priceOf = (text: string) => Number(/95=([\d.]+)/.exec(text)?.[1] ?? 1e9);
    fc.assert(
      fc.property(rows, (all) => {
        for (const [order, worth] of [
          ["fresh", (one: (typeof all)[number]) => -Date.parse(one.station.fuel.updated)],
          ["cheap", (one: (typeof all)[number]) => priceOf(one.station.fuel.prices)],
          ["near", () => 0],
        ] as const) {
          const { recent } = ordered(all, { order, grade: "95", now });
          for (const [n, one] of recent.entries()) {
            const before = recent[n - 1];
            if (before === undefined) continue;
            expect(worth(before)).to.be.at.most(worth(one));
            if (worth(before) === worth(one)) expect(before.distance).to.be.at.most(one.distance);
          }
        }
      }),
    );
  });
});
