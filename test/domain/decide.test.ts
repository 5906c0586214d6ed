import { expect } from "chai";
import fc from "fast-check";
import { advance } from "#src/domain/fold.ts";
import { type Mark, order } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import {
  arbFirstSeen,
  arbMarks,
  deliver,
  hour,
  mark,
  minute,
  rules,
  t0,
} from "#test/domain/marks.ts";

const show = (state: Parameters<typeof view>[0], atMinutes: number) =>
  view(state, t0 + atMinutes * minute, rules.statusLifetimeMs);

describe("decide: dispute", () => {
  const served = [mark(1, 1, 0), mark(2, 2, 1)];
  const no = (id: number, reporterId: number, at: number, more: Partial<Mark> = {}) =>
    mark(id, reporterId, at, { status: "no", needed: 2, rule: "no-nearby-marks", ...more });

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
