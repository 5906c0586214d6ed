import { expect } from "chai";
import fc from "fast-check";
import type { Admission } from "#src/domain/admit.ts";
import { emptyState } from "#src/domain/state.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { defaults, type Desk, north, openDesk, type Sent, verdict } from "#test/domain/desk.ts";
import { hour, minute, t0 } from "#test/domain/marks.ts";
import { replay } from "#test/oracle/fold.ts";
import type { OracleMark } from "#test/oracle/story.ts";
import { sized } from "#test/harness/long.ts";

const far = north(5000);
const viewer = "0a";

/** A desk for the widget that knows how station a stands: nothing was ever marked there. */
function openWidget(rules = defaults): Desk {
  const desk = openDesk(rules);
  desk.facts.pendingStatus.set("a", {
    facts: { state: emptyState, opinions: [], history: null },
    waiting: [],
    firstSeen: new Map(),
    strangers: new Map(),
  });
  return desk;
}

const sent = (reporter: string, more: Omit<Sent, "reporter">): Sent => ({
  partnerId: null,
  viewer,
  reporter,
  ...more,
});

describe("confirmation of a pending mark (decisions 6)", () => {
  const code = (desk: Desk, reporter: string, more: Omit<Sent, "reporter">): string =>
    verdict(desk.send(sent(reporter, { confirms: true, ...more })));

  it("needs its status to be pending", () => {
    const desk = openWidget();
    expect(code(desk, "1", { atMs: 0, status: "no" })).to.equal("nothing-pending");
    desk.send(sent("1", { atMs: 0, status: "no", ...far }));
    expect(code(desk, "2", { atMs: minute, status: "yes" })).to.equal("nothing-pending");
    expect(code(desk, "2", { atMs: minute, status: "no" })).to.equal("accepted");
  });

  it("is not the author's, who is told so before the mark would be a duplicate or too early", () => {
    const desk = openWidget();
    desk.send(sent("1", { atMs: 0, status: "no", ...far }));
    for (const atMs of [minute, 10 * minute, hour])
      expect(code(desk, "1", { atMs, status: "no" })).to.equal("own-mark");
  });

  it("is told as before when the device sends it again by its id, whatever came of it", () => {
    const desk = openWidget();
    desk.send(sent("1", { atMs: 0, status: "no", ...far }));
    const confirms = { status: "no", externalId: "x" } as const;
    expect(code(desk, "2", { atMs: minute, ...confirms })).to.equal("accepted");
    expect(code(desk, "2", { atMs: 2 * minute, ...confirms })).to.equal("duplicate of 2");
    desk.facts.pendingStatus.set("a", openWidget().facts.pendingStatus.get("a")!);
    expect(code(desk, "2", { atMs: 3 * minute, ...confirms })).to.equal("duplicate of 2");
    expect(code(desk, "3", { atMs: 4 * minute, ...confirms })).to.equal("nothing-pending");
  });

  it("is not anybody's who has confirmed before, while more devices are needed", () => {
    const desk = openWidget();
    desk.send(sent("1", { atMs: 0, status: "no", confirmMin: 3 }));
    expect(code(desk, "2", { atMs: minute, status: "no", confirmMin: 3 })).to.equal("accepted");
    expect(code(desk, "2", { atMs: 2 * minute, status: "no" })).to.equal("own-mark");
  });

  it("is not one of a status that another batch mate has just published", () => {
    const desk = openWidget();
    desk.meet("1", 2 * hour);
    desk.meet("2", hour);
    desk.send(sent("1", { atMs: 0, status: "no", ...far }));
    expect(code(desk, "2", { atMs: 0, status: "no" })).to.equal("accepted");
    expect(code(desk, "3", { atMs: 0, status: "no" })).to.equal("nothing-pending");
  });

  it("is not one of a mark that is 24 hours old", () => {
    const desk = openWidget();
    desk.send(sent("1", { atMs: 0, status: "no", ...far }));
    expect(code(desk, "2", { atMs: 24 * hour - 1, status: "no" })).to.equal("accepted");
    const other = openWidget();
    other.send(sent("1", { atMs: 0, status: "no", ...far }));
    expect(code(other, "2", { atMs: 24 * hour, status: "no" })).to.equal("nothing-pending");
  });

  it("does not find a held mark pending", () => {
    const desk = openWidget();
    desk.block("1");
    expect(verdict(desk.send(sent("1", { atMs: 0, status: "no" })))).to.equal("held");
    expect(code(desk, "2", { atMs: minute, status: "no" })).to.equal("nothing-pending");
  });

  it("comes after reports-disabled and before the cooldown", () => {
    const desk = openWidget();
    desk.send(sent("2", { atMs: 0, status: "yes", ...far }));
    const muted = { atMs: minute, status: "no", reports: false } as const;
    expect(code(desk, "2", muted)).to.equal("reports-disabled");
    expect(code(desk, "2", { atMs: minute, status: "no" })).to.equal("nothing-pending");
    desk.send(sent("1", { atMs: minute, status: "no", ...far }));
    expect(code(desk, "2", { atMs: minute, status: "no" })).to.equal("station-cooldown");
  });
});

describe("confirmation: any story of one station", () => {
  // Caps and cooldowns have tests of their own; here they would only thin out what happens.
  const free = {
    ...defaults,
    duplicateMs: 0,
    cooldownMs: 0,
    expressCooldownMs: 0,
    hourlyCap: 1e6,
    dailyCap: 1e6,
  };
  const happening = fc.record({
    waitMs: fc.constantFrom(0, 1, 5 * minute, 11 * minute, hour, 23 * hour),
    reporter: fc.constantFrom("1", "2", "3", "4", "5", "6"),
    confirms: fc.boolean(),
    status: fc.constantFrom("no", "no", ...statuses),
    near: fc.constantFrom(true, false, false),
    confirmMin: fc.constantFrom(0, 0, 0, 3, 5),
  });

  it("is taken just when the second reading of the rules shows that status pending, and by others", function () {
    const seen = { taken: 0, own: 0, nothing: 0 };
    fc.assert(
      fc.property(fc.array(happening, { minLength: 8, maxLength: 25 }), (story) => {
        const desk = openWidget(free);
        // Six devices, three of them within ten minutes.
        for (const n of [1, 2, 3, 4, 5, 6])
          desk.meet(String(n), 40 * hour - (n < 4 ? n : n * 15) * minute);
        const marks: OracleMark[] = [];
        const firstSeen = (reporter: string) => desk.facts.reporters.get(reporter)!.firstSeen!;
        let atMs = 0;
        for (const { waitMs, near, reporter, ...rest } of story) {
          atMs += waitMs;
          const { outcome } = replay({ marks, firstSeen }, t0 + atMs);
          const pending = marks.filter(
            (mark) =>
              mark.status === rest.status &&
              ["pending", "conflict"].includes(outcome(mark, mark.status).outcome),
          );
          const isOwn = pending.some((mark) => mark.reporter === reporter);
          const expected = !rest.confirms
            ? "accepted"
            : pending.length === 0
              ? "nothing-pending"
              : isOwn
                ? "own-mark"
                : "accepted";
          const admission: Admission = desk.send(
            sent(reporter, { atMs, ...rest, ...(near ? {} : far) }),
          );
          expect(verdict(admission)).to.equal(expected);
          if (rest.confirms && expected === "accepted") seen.taken += 1;
          if (expected === "own-mark") seen.own += 1;
          if (expected === "nothing-pending") seen.nothing += 1;
          if (admission.kind !== "accepted") continue;
          const { id, effectiveAt: at, remote, needed, rule } = admission;
          marks.push({ id, at, reporter, status: rest.status, remote, needed, rule, says: {} });
        }
      }),
      { numRuns: sized(60, 150) },
    );
    expect(Math.min(seen.taken, seen.own, seen.nothing)).to.be.above(sized(10, 25));
  });
});
