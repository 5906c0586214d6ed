import { expect } from "chai";
import type { FuelBlock } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { emptyState } from "#src/domain/state.ts";
import { expire, type Filters, noFilters, passes } from "#web/widget/filters.ts";

const hourMs = 3_600_000;
const now = Date.UTC(2026, 5, 1, 12);
const fuel: FuelBlock = {
  ...view(emptyState, now, 24 * hourMs),
  status: "queue",
  fuels_now: "92,95",
  fuels_no: "ДТ",
  prices: "92=58.10",
  queue: "5-10",
  updated: "2026-06-01 09:30:00",
  confirmations: 2,
  real_count: 2,
  limit_l: 40,
  resolution_reason: "published",
};
const pass = (filters: Partial<Filters>, block: FuelBlock = fuel): boolean =>
  passes(block, { ...noFilters, ...filters }, now);

describe("web: the map's filters", () => {
  it("let everything pass when none is set", () => expect(pass({})).to.equal(true));

  it("want all of several grades", () => {
    expect(pass({ grades: ["92", "95"] })).to.equal(true);
    expect(pass({ grades: ["92", "98"] })).to.equal(false);
  });

  it("do not take a grade for another that it is part of", () => {
    expect(pass({ grades: ["98"] }, { ...fuel, fuels_now: "98,100" })).to.equal(true);
    expect(pass({ grades: ["100"] }, { ...fuel, fuels_now: "98" })).to.equal(false);
  });

  it("want one of several statuses and queues", () => {
    expect(pass({ statuses: ["yes", "queue"] })).to.equal(true);
    expect(pass({ statuses: ["no"] })).to.equal(false);
    expect(pass({ queues: ["5-10", "20+"] })).to.equal(true);
    expect(pass({ queues: ["20+"] })).to.equal(false);
  });

  it("want prices that are there", () => {
    const { prices: _, ...without } = fuel;
    expect(pass({ priced: true })).to.equal(true);
    expect(pass({ priced: true }, without)).to.equal(false);
  });

  it("want a status no older than so many hours, which no data never is", () => {
    expect(pass({ freshH: 3 })).to.equal(true);
    expect(pass({ freshH: 2 })).to.equal(false);
    expect(pass({ freshH: 24 }, { ...fuel, status: "nodata" })).to.equal(false);
  });
});

describe("web: expiry in the browser", () => {
  const at = (hours: number): FuelBlock =>
    expire(fuel, Date.UTC(2026, 5, 1, 9, 30) + hours * hourMs, 24);

  it("leaves a live status as it is", () => expect(at(23.99)).to.equal(fuel));

  it("shows an expired one as the API does", () => {
    expect(at(24)).to.deep.equal({
      ...view(emptyState, now, 24 * hourMs),
      updated: fuel.updated,
    });
  });

  it("keeps what is pending", () => {
    const pending = { ...fuel, pending_status: "no", pending_count: 1 } as const;
    const gone = expire({ ...pending, resolution_reason: "unconfirmed" }, now + 24 * hourMs, 24);
    expect(gone).to.include({
      status: "nodata",
      pending_status: "no",
      pending_count: 1,
      resolution_reason: "unconfirmed",
    });
  });

  it("keeps neither a dispute nor a chance of that time", () => {
    const side = { count: 2, updated: fuel.updated };
    const versions = [
      { status: "queue" as const, ...side },
      { status: "no" as const, ...side },
    ];
    const disputed = { ...fuel, chance: 85, pending_status: "no", pending_count: 2 } as const;
    const gone = expire(
      { ...disputed, conflict: { versions }, resolution_reason: "conflict" },
      now + 24 * hourMs,
      24,
    );
    expect(gone).to.include({ conflict: null, resolution_reason: "unconfirmed" });
    expect(gone).not.to.have.property("chance");
  });
});
