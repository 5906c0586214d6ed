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
        fuels_now: fc.constantFrom("", "95", "92,95"),
        fuels_no: fc.constant(""),
        chance: fc.constantFrom(0, 25, 65, 70, 85, 100),
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

  it("puts first the nearest where the fuel is likely, then the likeliest, and what is unknown last", () => {
    fc.assert(
      fc.property(rows, (all) => {
        const { recent, old } = ordered(all, { order: "likely", grade: "95", now });
        expect([recent.length, old]).to.deep.equal([all.length, []]);
        for (const [n, { distance, station }] of recent.entries()) {
          const before = recent[n - 1];
          if (before === undefined) continue;
          const [one, other] = [before.station.fuel, station.fuel];
          if (!one.fuels_now.includes("95")) expect(other.fuels_now).not.to.include("95");
          else if (other.fuels_now.includes("95") && one.chance < 70)
            expect(other.chance).to.be.at.most(one.chance);
          else if (other.fuels_now.includes("95") && other.chance >= 70)
            expect(distance).to.be.at.least(before.distance);
        }
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
