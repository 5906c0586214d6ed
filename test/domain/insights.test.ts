import { expect } from "chai";
import fc from "fast-check";
import {
  addCounts,
  countStation,
  type GradeSums,
  meanOf,
  noCounts,
  shareNo,
  shareOut,
  sharesOut,
} from "#src/domain/insights.ts";
import { runsWithin, type StatusRun } from "#src/domain/view.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import { grades, servedStatuses, statuses } from "#src/domain/vocabulary.ts";

const anyRuns = fc
  .array(
    fc.record({
      gap: fc.nat(5),
      length: fc.integer({ min: 1, max: 20 }),
      status: fc.constantFrom(...servedStatuses),
    }),
    { maxLength: 8 },
  )
  .chain((parts) => fc.boolean().map((isOpen) => ({ parts, isOpen })))
  .map(({ parts, isOpen }) => {
    let at = 0;
    return parts.map(({ gap, length, status }, n): StatusRun => {
      const from = at + gap;
      at = from + length;
      return { status, from, to: isOpen && n === parts.length - 1 ? null : at };
    });
  });

describe("status runs within a time", () => {
  it("say at every moment what the runs say, without gaps, and neighbours differ", () => {
    fc.assert(
      fc.property(anyRuns, fc.nat(60), fc.integer({ min: 1, max: 60 }), (runs, from, length) => {
        const found = runsWithin(runs, from, from + length);
        expect(found[0]!.from).to.equal(from);
        expect(found.at(-1)!.to).to.equal(null);
        for (const [n, run] of found.entries()) {
          const next = found[n + 1];
          if (next === undefined) continue;
          expect(run.to).to.equal(next.from);
          expect(run.status).to.not.equal(next.status);
        }
        for (let at = from; at < from + length; at += 1) {
          const is = (run: StatusRun): boolean =>
            run.from <= at && (run.to === null || run.to > at);
          expect(found.find(is)!.status).to.equal(runs.find(is)?.status ?? "nodata");
        }
      }),
    );
  });
  it("are none of no time", () => {
    expect(runsWithin([{ status: "yes", from: 0, to: null }], 5, 5)).to.deep.equal([]);
  });
});

describe("insights", () => {
  it("have a mean whose parts are all stations", () => {
    const part = fc.integer({ min: 0, max: dayMs });
    fc.assert(
      fc.property(fc.tuple(part, part, part, part), fc.nat(5000), ([yes, low, no, queue], more) => {
        const stations = 4 + more;
        const mean = meanOf({ stations, ms: { yes, low, no, queue } }, dayMs);
        const sum = servedStatuses.reduce((all, status) => all + mean[status], 0);
        expect(sum).to.be.closeTo(stations, 0.03);
        for (const status of statuses) expect(mean[status]).to.be.within(0, 1);
      }),
    );
  });

  it("share a grade over all looks of a day, whatever their order", () => {
    const look = fc.array(fc.record({ available: fc.nat(50), out: fc.nat(50) }), {
      minLength: grades.length,
      maxLength: grades.length,
    });
    fc.assert(
      fc.property(fc.array(look, { maxLength: 6 }), (looks) => {
        const counted = looks.map((byGrade) => {
          const counts = noCounts();
          grades.forEach((grade, n) => Object.assign(counts.grades[grade], byGrade[n]));
          return counts;
        });
        const sum = (some: typeof counted) =>
          some.reduce<GradeSums | undefined>(addCounts, undefined);
        const shares = sharesOut(sum(counted));
        expect(sharesOut(sum(counted.toReversed()))).to.deep.equal(shares);
        for (const [n, grade] of grades.entries()) {
          const out = looks.reduce((all, one) => all + one[n]!.out, 0);
          const has = looks.reduce((all, one) => all + one[n]!.available, 0);
          const exact = out + has === 0 ? null : out / (out + has);
          if (exact === null) expect(shares[grade]).to.equal(null);
          else expect(shares[grade]).to.be.closeTo(exact, 0.00006);
        }
      }),
    );
  });

  it("count a grade as a driver is answered, and share only what is known", () => {
    const counts = noCounts();
    const fuel = (status: string, has = "", out = "") =>
      ({ status, fuels_now: has, fuels_no: out }) as FuelBlock;
    for (const one of [fuel("yes", "92,95", "98"), fuel("queue", "95"), fuel("no"), fuel("nodata")])
      countStation(counts, one);
    expect(counts.grades["95"]).to.deep.equal({ available: 2, out: 1, unknown: 1 });
    expect(counts.grades["98"]).to.deep.equal({ available: 0, out: 2, unknown: 2 });
    expect(counts).to.deep.include({
      stations: 4,
      statuses: { yes: 1, low: 0, no: 1, queue: 1, nodata: 1 },
    });
    expect(shareNo(counts.statuses)).to.equal(0.3333);
    expect(shareOut(0, 0)).to.equal(null);
  });
});
