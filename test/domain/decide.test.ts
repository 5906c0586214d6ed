import { expect } from "chai";
import fc from "fast-check";
import { decide } from "#src/domain/decide.ts";
import { devices } from "#src/domain/devices.ts";
import { advance, type Folded, step } from "#src/domain/fold.ts";
import { emptyState, type Mark, order } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import {
  apart,
  arbFirstSeen,
  arbMarks,
  deliver,
  hour,
  judgedInOrder,
  mark,
  minute,
  remote,
  rules,
  t0,
} from "#test/domain/marks.ts";
import { sized } from "#test/harness/long.ts";

const show = (state: Parameters<typeof view>[0], atMinutes: number) =>
  view(state, t0 + atMinutes * minute, rules.statusLifetimeMs);

describe("decide: confirmation", () => {
  it("publishes a geolocated yes of one device", () => {
    const { state, outcomes } = deliver(
      [mark(1, 1, 0, { fuels: ["95"], prices: { "95": 62.5 }, queue: "0-5" })],
      t0,
    );
    expect(outcomes.get(1)).to.deep.include({
      outcome: "published",
      status: "yes",
      reason: "published",
      have: 1,
    });
    expect(show(state, 1)).to.include({
      status: "yes",
      fuels_now: "95",
      prices: "95=62.50",
      queue: "0-5",
      confirmations: 1,
      real_count: 1,
      updated: "2026-01-15 12:00:00",
    });
  });

  it("holds a remote mark as pending until a second device sends the same status", () => {
    const first = deliver([remote(1, 1, 0)], t0);
    expect(first.outcomes.get(1)).to.include({
      outcome: "pending",
      status: "nodata",
      reason: "unconfirmed",
      have: 1,
    });
    expect(show(first.state, 0)).to.include({
      status: "nodata",
      pending_status: "yes",
      pending_count: 1,
      updated: "",
    });
    const second = deliver([remote(1, 1, 0), remote(2, 2, 5)], t0 + 5 * minute);
    expect(second.outcomes.get(2)).to.include({ outcome: "published", have: 2 });
    expect(show(second.state, 5)).to.include({
      status: "yes",
      pending_status: "",
      pending_count: 0,
      confirmations: 2,
      real_count: 2,
    });
  });

  it("does not let a device confirm itself", () => {
    const { state, outcomes } = deliver([remote(1, 1, 0), remote(2, 1, 30)], t0 + 30 * minute);
    expect(outcomes.get(2)).to.include({ outcome: "pending", have: 1 });
    expect(show(state, 30).status).to.equal("nodata");
  });

  it("counts reporters first seen within ten minutes as one device, anchored and not chained", () => {
    const seen = (minutes: number[]) => (reporterId: number) =>
      t0 + minutes[reporterId - 1]! * minute;
    const two = [remote(1, 1, 0), remote(2, 2, 1)];
    expect(deliver(two, t0 + minute, seen([0, 9])).outcomes.get(2)).to.include({
      outcome: "pending",
      have: 1,
    });
    expect(deliver(two, t0 + minute, seen([0, 10])).outcomes.get(2)).to.include({
      outcome: "published",
      have: 2,
    });
    const three = [mark(1, 1, 0), mark(2, 2, 0), mark(3, 3, 0)];
    expect(
      devices(three, t0 + minute, { firstSeen: seen([0, 9, 11]), rules }).map(
        (group) => group.length,
      ),
    ).to.deep.equal([2, 1]);
  });

  it("needs as many devices as a key with a raised threshold says", () => {
    const raised = (id: number, reporterId: number) =>
      mark(id, reporterId, id, { needed: 3, rule: "key-threshold" });
    const { outcomes } = deliver([raised(1, 1), raised(2, 2), raised(3, 3)], t0 + hour);
    expect([1, 2, 3].map((id) => outcomes.get(id)?.outcome)).to.deep.equal([
      "pending",
      "pending",
      "published",
    ]);
  });

  it("does not let a key's raised threshold block ordinary drivers", () => {
    const { outcomes } = deliver(
      [mark(1, 1, 0, { needed: 5, rule: "key-threshold" }), mark(2, 2, 1)],
      t0 + hour,
    );
    expect(outcomes.get(2)?.outcome).to.equal("published");
  });

  it("lets a published status clear every pending one", () => {
    const { state } = deliver([remote(1, 1, 0, { status: "no" }), mark(2, 2, 1)], t0 + minute);
    expect(show(state, 1)).to.include({
      status: "yes",
      pending_status: "",
      resolution_reason: "published",
    });
  });

  it("lets counts fall when a supporter changes its mind, and keeps a status without supporters", () => {
    const { state } = deliver(
      [mark(1, 1, 0), remote(2, 1, 30, { status: "low" })],
      t0 + 30 * minute,
    );
    expect(show(state, 30)).to.include({
      status: "yes",
      confirmations: 0,
      real_count: 0,
      pending_status: "low",
      pending_count: 1,
    });
  });

  it("does not let a lone remote repeat keep a status alive", () => {
    const { state } = deliver([mark(1, 1, 0), remote(2, 1, 60)], t0 + hour);
    expect(show(state, 60).updated).to.equal("2026-01-15 12:00:00");
    expect(show(state, 24 * 60 - 1).status).to.equal("yes");
    expect(show(state, 24 * 60).status).to.equal("nodata");
  });

  it("says superseded of a late mark when newer evidence stands against it", () => {
    const { outcomes } = deliver(
      [mark(1, 1, 10), mark(2, 2, 5, { status: "low" })],
      t0 + 20 * minute,
    );
    expect(outcomes.get(2)).to.include({ outcome: "superseded", status: "yes" });
  });

  it("takes details from supporters, newest first, grade by grade, never in both lists", () => {
    const { state } = deliver(
      [
        mark(1, 1, 0, { fuels: ["92", "95"], limitL: 20 }),
        mark(2, 2, 1, { fuelsNo: ["95"], limitL: null, noCash: true }),
      ],
      t0 + minute,
    );
    expect(show(state, 1)).to.include({
      fuels_now: "92",
      fuels_no: "95",
      limit_l: null,
      no_cash: true,
    });
  });

  it("lets prices live 24 h each from their own mark, whatever the status does", () => {
    const { state } = deliver(
      [
        mark(1, 1, 0, { prices: { "95": 60 } }),
        mark(2, 2, 60, { status: "low", prices: { "92": 55 } }),
      ],
      t0 + hour,
    );
    expect(show(state, 61).prices).to.equal("92=55.00,95=60.00");
    expect(show(state, 24 * 60 + 1).prices).to.equal("92=55.00");
  });

  it("with status no serves neither fuels_now nor queue", () => {
    const { state } = deliver([mark(1, 1, 0, { status: "no", fuels: ["95"], queue: "5-10" })], t0);
    expect(show(state, 0)).to.include({ status: "no", fuels_now: "", queue: "" });
  });

  it("lets an imported status give way to a published mark, and never replace one", () => {
    const seed = {
      importedAt: t0 + minute,
      updated: t0 - hour,
      status: "no",
      fuelsNow: [],
      fuelsNo: ["95"],
    } as const;
    const facts = { state: emptyState, opinions: [], history: null };
    const seeded = decide(facts, { marks: [], seeds: [seed] }, apart, t0 + minute, rules);
    expect(show(seeded.state, 1)).to.include({
      status: "no",
      seeded: true,
      confirmations: 0,
      fuels_no: "95",
      updated: "2026-01-15 11:00:00",
    });
    const after = decide(
      { state: seeded.state, opinions: [], history: null },
      { marks: [mark(1, 1, 2)], seeds: [] },
      apart,
      t0 + 2 * minute,
      rules,
    );
    expect(show(after.state, 2)).to.include({ status: "yes", seeded: false });
    const human = decide(
      facts,
      { marks: [mark(1, 1, 0)], seeds: [seed] },
      apart,
      t0 + minute,
      rules,
    );
    expect(show(human.state, 1)).to.include({ status: "yes", seeded: false });
  });
});

describe("decide: dispute", () => {
  const served = [mark(1, 1, 0), mark(2, 2, 1)];
  const no = (id: number, reporterId: number, at: number, more: Partial<Mark> = {}) =>
    mark(id, reporterId, at, { status: "no", needed: 2, rule: "no-nearby-marks", ...more });

  it("is in conflict while both sides have two devices and the challenger does not outweigh", () => {
    const { state, outcomes } = deliver([...served, no(3, 3, 2), no(4, 4, 3)], t0 + 3 * minute);
    expect(outcomes.get(4)).to.deep.include({
      outcome: "conflict",
      status: "yes",
      reason: "conflict",
      have: 2,
    });
    expect(show(state, 3)).to.deep.include({
      status: "yes",
      resolution_reason: "conflict",
      pending_status: "no",
      pending_count: 2,
      conflict: {
        versions: [
          { status: "yes", count: 2, updated: "2026-01-15 12:01:00" },
          { status: "no", count: 2, updated: "2026-01-15 12:03:00" },
        ],
      },
    });
  });

  it("publishes a challenger that outweighs", () => {
    const { outcomes } = deliver(
      [...served, no(3, 3, 2), no(4, 4, 3), no(5, 5, 4)],
      t0 + 4 * minute,
    );
    expect(outcomes.get(5)).to.include({ outcome: "published", status: "no" });
  });

  it("weighs remote devices half and newcomers half of that", () => {
    const remoteNo = [3, 4, 5].map((reporter) =>
      no(reporter, reporter, reporter, { remote: true }),
    );
    expect(deliver([...served, ...remoteNo], t0 + 5 * minute).outcomes.get(5)?.outcome).to.equal(
      "conflict",
    );
    const newSince = (reporterId: number): number =>
      reporterId > 2 ? t0 - reporterId * 11 * minute : apart(reporterId);
    const newNo = [3, 4, 5].map((reporter) => no(reporter, reporter, reporter));
    expect(
      deliver([...served, ...newNo], t0 + 5 * minute, newSince).outcomes.get(5)?.outcome,
    ).to.equal("conflict");
  });

  it("ends by time: a served side under two devices loses, at its own instant", () => {
    const { state } = deliver([...served, no(3, 3, 2), no(4, 4, 3)], t0 + 3 * minute);
    expect(show(state, 59).resolution_reason).to.equal("conflict");
    expect(show(state, 60)).to.include({
      status: "no",
      resolution_reason: "published",
      pending_count: 0,
      conflict: null,
      updated: "2026-01-15 12:03:00",
    });
  });

  it("ends by time: a challenger under two devices is pending again until its next mark", () => {
    const marks = [
      mark(1, 1, 30),
      mark(2, 2, 31),
      no(3, 3, 32),
      no(4, 4, 33),
      mark(5, 5, 80),
      mark(6, 6, 81),
    ];
    const { state } = deliver(marks, t0 + 81 * minute);
    expect(show(state, 91).resolution_reason).to.equal("conflict");
    expect(show(state, 92)).to.include({
      status: "yes",
      resolution_reason: "unconfirmed",
      pending_status: "no",
    });
    const next = deliver([...marks, no(7, 7, 95)], t0 + 95 * minute);
    expect(next.outcomes.get(7)).to.include({ outcome: "published", status: "no" });
  });
});

describe("decide: properties", () => {
  const now = t0 + 51 * hour;

  it("gives the same state for the same marks in any order of delivery", () => {
    fc.assert(
      fc.property(
        arbMarks.chain((marks) =>
          fc.tuple(fc.constant(marks), fc.shuffledSubarray(marks, { minLength: marks.length })),
        ),
        arbFirstSeen,
        ([marks, shuffled], firstSeen) => {
          const verdicts = new Map(
            judgedInOrder(marks, now, firstSeen).map((one) => [one.id, one]),
          );
          const withVerdicts = (some: readonly Mark[]) => some.map(({ id }) => verdicts.get(id)!);
          const sorted = deliver(withVerdicts([...marks].sort(order)), now, firstSeen, true);
          const other = deliver(withVerdicts(shuffled), now, firstSeen, true);
          expect(sorted.state).to.deep.equal(
            deliver(
              [...marks].sort((a, b) => a.id - b.id),
              now,
              firstSeen,
            ).state,
          );
          expect(other.state).to.deep.equal(sorted.state);
          expect(new Map([...other.opinions].sort())).to.deep.equal(
            new Map([...sorted.opinions].sort()),
          );
        },
      ),
      { numRuns: sized(100, 300) },
    );
  });

  it("never publishes what one device alone asks for where two are needed", () => {
    fc.assert(
      fc.property(arbMarks, (marks) => {
        const cautious = marks
          .map((one) => ({ ...one, needed: Math.max(2, one.needed) }))
          .sort(order);
        const oneDevice = (reporterId: number): number => t0 - 5 * 24 * hour + reporterId * minute;
        const { state, outcomes } = deliver(cautious, now, oneDevice);
        expect([...outcomes.values()].map((one) => one.outcome)).to.not.include.members([
          "published",
        ]);
        expect(state.served).to.equal(null);
      }),
    );
  });

  it("never published a status that had not its needed devices", () => {
    fc.assert(
      fc.property(arbMarks, arbFirstSeen, (marks, firstSeen) => {
        let folded: Folded = { state: emptyState, opinions: [] };
        for (const one of [...marks].sort(order)) {
          const before = advance(folded.state, one.at, rules).served?.status;
          folded = step(folded, { kind: "mark", mark: one }, { firstSeen, rules });
          const after = folded.state.served?.status;
          if (after === undefined || after === before || after !== one.status) continue;
          const agreeing = folded.opinions.filter(
            (opinion) => opinion.status === after && one.at - opinion.at < 24 * hour,
          );
          const needed = Math.min(...agreeing.map((opinion) => opinion.needed));
          expect(devices(agreeing, now, { firstSeen, rules }).length).to.be.at.least(needed);
        }
      }),
      { numRuns: sized(100, 300) },
    );
  });

  it("shows at every moment what a fold up to that moment shows", () => {
    fc.assert(
      fc.property(
        arbMarks,
        arbFirstSeen,
        fc.integer({ min: 0, max: 80 * 60 }),
        (marks, firstSeen, later) => {
          const sorted = [...marks].sort(order);
          const { state } = deliver(sorted, now, firstSeen);
          const moment = sorted.at(-1)!.at + later * minute;
          const passed = advance(state, moment, rules);
          expect(view(state, moment, rules.statusLifetimeMs)).to.deep.equal(
            view(passed, moment, rules.statusLifetimeMs),
          );
        },
      ),
    );
  });
});
