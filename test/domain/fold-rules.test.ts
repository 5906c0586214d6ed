import { expect } from "chai";
import type { Mark } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { apart, deliver, hour, mark, minute, remote, rules, t0 } from "#test/domain/marks.ts";

const day = 24 * 60;
const clock = (atMinutes: number) =>
  new Date(t0 + atMinutes * minute).toISOString().slice(0, 19).replace("T", " ");

/** What is served `at` minutes after t0 once these marks are in. */
const shown = (marks: readonly Mark[], at: number, firstSeen = apart) =>
  view(deliver(marks, t0 + at * minute, firstSeen).state, t0 + at * minute, rules.statusLifetimeMs);
const outcome = (marks: readonly Mark[], at: number, firstSeen = apart) =>
  deliver(marks, t0 + at * minute, firstSeen).outcomes.get(marks.at(-1)!.id)!;

const no = (id: number, reporter: number, at: number, more: Partial<Mark> = {}) =>
  mark(id, reporter, at, { status: "no", needed: 2, rule: "no-nearby-marks", ...more });
const low = { status: "low" } as const;

describe("fold: supporters and versions (decisions 2)", () => {
  it("and rises again when the supporter that asked for least changes its mind", () => {
    const three = { needed: 3, rule: "key-threshold" } as const;
    const marks = [remote(1, 1, 0), remote(2, 1, 1, low), mark(3, 2, 2, three)];
    expect(outcome([...marks, mark(4, 3, 3, three)], 3)).to.include({
      outcome: "pending",
      have: 2,
    });
  });

  it("an opinion that is 24 h old supports nothing", () => {
    expect(outcome([remote(1, 1, 0), remote(2, 2, day - 1)], day)).to.include({ have: 2 });
    expect(outcome([remote(1, 1, 0), remote(2, 2, day)], day)).to.include({ have: 1 });
  });
});

describe("fold: counts and times (decisions 2)", () => {
  it("a status without supporters stays until it expires", () => {
    const marks = [mark(1, 1, 0), remote(2, 1, 1, low)];
    expect(shown(marks, day - 1)).to.include({ status: "yes", confirmations: 0 });
    expect(shown(marks, day)).to.include({ status: "nodata", updated: clock(0) });
  });

  it("pending_status is the version with the most devices, at a tie the one with the newest supporter", () => {
    const queue = { status: "queue" } as const;
    const tie = [no(1, 1, 0), remote(2, 2, 1, low), remote(3, 3, 2, queue)];
    expect(shown(tie, 2)).to.include({ pending_status: "queue", pending_count: 1 });
    const three = { ...low, needed: 3 };
    const most = [remote(1, 1, 0, three), remote(2, 2, 1, three), remote(3, 3, 2, queue)];
    expect(shown(most, 2)).to.include({ pending_status: "low", pending_count: 2 });
  });
});

describe("fold: outcomes (decisions 2)", () => {
  it("published, not confirmed, when the same status had expired", () => {
    expect(outcome([mark(1, 1, 0), mark(2, 2, day)], day)).to.include({ outcome: "published" });
  });

  it("published: a late mark that makes its status the served one", () => {
    const late = [remote(1, 1, 10), remote(2, 2, 5)];
    expect(outcome(late, 20)).to.include({ outcome: "published", have: 2 });
  });
});

describe("fold: dispute (decisions 2)", () => {
  const served = [mark(1, 1, 0), mark(2, 2, 0)];
  const reasonOf = (marks: readonly Mark[], at: number, seen = apart) =>
    `${shown(marks, at, seen).status} ${shown(marks, at, seen).resolution_reason}`;

  it("is not considered before the version has its needed devices", () => {
    const three = { needed: 3 };
    expect(reasonOf([...served, no(3, 3, 1, three), no(4, 4, 2, three)], 2)).to.equal(
      "yes unconfirmed",
    );
  });

  it("needs two devices on both sides", () => {
    expect(reasonOf([mark(1, 1, 0), no(3, 3, 1), no(4, 4, 2)], 2)).to.equal("no published");
  });

  it("weighs a device by its best mark and its oldest reporter", () => {
    const young = (reporter: number) => (reporter > 2 ? t0 - reporter * hour : apart(reporter));
    const three = [no(3, 3, 1), no(4, 4, 2), no(5, 5, 3)];
    expect(reasonOf([...served, ...three], 3)).to.equal("no published");
    expect(reasonOf([...served, ...three], 3, young)).to.equal("yes conflict");
    const paired = (reporter: number) => {
      if (reporter >= 6) return apart(reporter - 3) + minute;
      return apart(reporter);
    };
    const remotes = three.map((one) => ({ ...one, remote: true }));
    const near = [no(6, 6, 4), no(7, 7, 5)];
    expect(reasonOf([...served, ...remotes], 3, paired)).to.equal("yes conflict");
    expect(reasonOf([...served, ...remotes, ...near], 5, paired)).to.equal("no published");
  });

  it("ends when a newcomer's first 24 h end and its side outweighs", () => {
    const seen = (reporter: number) =>
      reporter > 2 ? t0 - 24 * hour + reporter * 10 * minute : apart(reporter);
    const marks = [...served, no(3, 3, 1), no(4, 4, 2), no(5, 5, 3)];
    // Half each until 30, 40 and 50 minutes after t0.
    expect(reasonOf(marks, 39, seen)).to.equal("yes conflict");
    expect(reasonOf(marks, 40, seen)).to.equal("no published");
  });

  it("ends when a supporter of the served side changes its mind", () => {
    const marks = [...served, no(3, 3, 1), no(4, 4, 2), no(5, 1, 3)];
    expect(reasonOf(marks, 3)).to.equal("no published");
  });

  it("ends when the challenger's supporter changes its mind: pending again", () => {
    const marks = [...served, no(3, 3, 1), no(4, 4, 2), mark(5, 3, 3)];
    expect(shown(marks, 3)).to.include({
      resolution_reason: "unconfirmed",
      pending_status: "no",
      pending_count: 1,
      conflict: null,
    });
  });

  it("ended by a mark of a third status, the publication clears that mark's version too", () => {
    const marks = [
      no(1, 1, 0),
      no(2, 2, 0),
      remote(3, 3, 1, { status: "queue", remote: false }),
      remote(4, 4, 1, { status: "queue", remote: false }),
      mark(5, 1, 1, { needed: 2 }),
    ];
    expect(shown(marks, 1)).to.include({ status: "queue", pending_status: "" });
  });

  it("shows of two disputes the one that pending_status names", () => {
    const two = { needed: 2 };
    const marks = [
      ...[1, 2, 3].map((reporter) => no(reporter, reporter, 0)),
      ...[4, 5].map((reporter) => mark(reporter, reporter, 1, two)),
      ...[6, 7].map((reporter) => mark(reporter, reporter, 2, { ...two, status: "queue" })),
    ];
    const fuel = shown(marks, 2);
    expect(fuel).to.include({ pending_status: "queue", resolution_reason: "conflict" });
    expect(fuel.conflict?.versions.map((one) => `${one.status} ${one.count}`)).to.deep.equal([
      "no 3",
      "queue 2",
    ]);
  });
});

describe("fold: details (decisions 2)", () => {
  it("limit_l null states no limit; absent states nothing", () => {
    const limited = mark(1, 1, 0, { limitL: 20 });
    expect(shown([limited, mark(2, 2, 1, { limitL: null })], 1).limit_l).to.equal(null);
    expect(shown([limited, mark(2, 2, 1)], 1).limit_l).to.equal(20);
  });

  it("go with the served status; prices stay, 24 h each from their own mark", () => {
    const marks = [
      mark(1, 1, 0, { fuels: ["95"], queue: "0-5", prices: { "95": 60 } }),
      mark(2, 2, 60, { ...low, prices: { "92": 55 } }),
    ];
    expect(shown(marks, 60)).to.include({ fuels_now: "", queue: "", prices: "92=55.00,95=60.00" });
    expect(shown(marks, day - 1).prices).to.equal("92=55.00,95=60.00");
    expect(shown(marks, day).prices).to.equal("92=55.00");
  });

  it("a price outlives its reporter's change of mind, and none is served without a status", () => {
    const marks = [mark(1, 1, 0, { prices: { "95": 60 } }), mark(2, 2, 1), remote(3, 1, 2, low)];
    expect(shown(marks, 2).prices).to.equal("95=60.00");
    expect(shown(marks, day + 1)).to.include({ status: "nodata", limit_l: null, no_cash: false });
    expect(shown(marks, day + 1).prices).to.equal(undefined);
  });

  it("prices are served in grade order with two decimals", () => {
    const prices = { ДТ: 70.1, "92": 58.1, "95": 62.5 };
    expect(shown([mark(1, 1, 0, { prices })], 0).prices).to.equal("92=58.10,95=62.50,ДТ=70.10");
  });
});
