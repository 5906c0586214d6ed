import { expect } from "chai";
import { defaults, openDesk, north, type Sent, verdict } from "#test/domain/desk.ts";
import { hour, minute, t0 } from "#test/domain/marks.ts";

const second = 1000;
const day = 24 * hour;
const known = 30 * day;

/** Sends marks one after the other as a known reporter and says what became of each. */
function verdicts(list: readonly Sent[]): string[] {
  const desk = openDesk();
  desk.meet("one", known);
  return list.map((sent) => verdict(desk.send(sent)));
}

describe("intake: order of checks (decisions 3)", () => {
  // Each mark earns every refusal from its place in the order on; the first in the order is the one it gets.
  const setUp = () => {
    const desk = openDesk({ ...defaults, newReportersDaily: 1 });
    desk.meet("one", known);
    desk.send({ atMs: 0, externalId: "x" });
    desk.send({ atMs: 0, reporter: "first" });
    return desk;
  };
  const far = { ...north(5000), acceptRemote: false };

  it("reports-disabled comes before duplicate", () => {
    const admission = setUp().send({ atMs: second, externalId: "x", reports: false });
    expect(verdict(admission)).to.equal("reports-disabled");
  });

  it("duplicate comes before station-cooldown and too-far", () => {
    expect(verdict(setUp().send({ atMs: second, externalId: "x", ...far }))).to.equal(
      "duplicate of 1",
    );
    expect(verdict(setUp().send({ atMs: second, ...far }))).to.equal("duplicate of 1");
  });

  it("station-cooldown comes before user-rate-limited", () => {
    const desk = setUp();
    for (let n = 1; n < 12; n += 1) desk.send({ atMs: second, stationId: `s${n}` });
    expect(verdict(desk.send({ atMs: 2 * second, status: "low", ...far }))).to.equal(
      "station-cooldown",
    );
    expect(verdict(desk.send({ atMs: 2 * second, stationId: "z", ...far }))).to.equal(
      "user-rate-limited",
    );
  });

  it("new-users-limit comes before too-far", () => {
    const desk = setUp();
    expect(verdict(desk.send({ atMs: second, reporter: "second", ...far }))).to.equal(
      "new-users-limit",
    );
    expect(verdict(desk.send({ atMs: second, stationId: "z", ...far }))).to.equal("too-far");
  });
});

describe("intake: duplicate (decisions 3)", () => {
  const cases: [string, Sent[], string[]][] = [
    [
      "the same status again under 5 minutes later",
      [{ atMs: 0 }, { atMs: 5 * minute - 1 }],
      ["accepted", "duplicate of 1"],
    ],
    [
      "not at 5 minutes: then the cooldown stands",
      [{ atMs: 0 }, { atMs: 5 * minute }],
      ["accepted", "station-cooldown"],
    ],
    [
      "not another status",
      [{ atMs: 0 }, { atMs: second, status: "low" }],
      ["accepted", "station-cooldown"],
    ],
    [
      "not another station",
      [{ atMs: 0 }, { atMs: second, stationId: "b" }],
      ["accepted", "accepted"],
    ],
    [
      "not another reporter",
      [{ atMs: 0 }, { atMs: second, reporter: "two" }],
      ["accepted", "accepted"],
    ],
    [
      "only the reporter's newest mark counts, newest by effective time",
      [
        { atMs: 0, status: "yes" },
        { atMs: 2 * minute, status: "low", express: true, observedAt: t0 - hour },
        { atMs: 3 * minute, status: "yes" },
        { atMs: 3 * minute, status: "low" },
      ],
      ["accepted", "accepted", "duplicate of 1", "station-cooldown"],
    ],
    [
      "the same external_id, with a changed body, user and station too",
      [
        { atMs: 0, externalId: "x" },
        { atMs: hour, externalId: "x", reporter: "two", stationId: "b", status: "no" },
      ],
      ["accepted", "duplicate of 1"],
    ],
    [
      "not the same external_id of another partner",
      [
        { atMs: 0, externalId: "x" },
        { atMs: second, externalId: "x", partnerId: 2, reporter: "other" },
      ],
      ["accepted", "accepted"],
    ],
    [
      "a refused mark does not use up its external_id",
      [{ atMs: 0 }, { atMs: 19 * minute, externalId: "x" }, { atMs: 20 * minute, externalId: "x" }],
      ["accepted", "station-cooldown", "accepted"],
    ],
    [
      "an expired mark does not use up its external_id: it is not stored",
      [
        { atMs: 0, externalId: "x", observedAt: t0 - 25 * hour },
        { atMs: second, externalId: "x" },
      ],
      ["expired", "accepted"],
    ],
    [
      "an expired mark is no opinion that a mark could repeat",
      [{ atMs: 0, observedAt: t0 - 25 * hour }, { atMs: second }],
      ["expired", "accepted"],
    ],
  ];
  for (const [title, sent, expected] of cases)
    it(title, () => expect(verdicts(sent)).to.deep.equal(expected));
});

describe("intake: cooldown (decisions 3)", () => {
  const next = (atMs: number, more: Partial<Sent> = {}) => {
    const desk = openDesk();
    desk.meet("one", known);
    desk.send({ atMs: 0 });
    const admission = desk.send({ status: "low", ...more, atMs });
    return admission.kind === "refused" ? admission.problem : verdict(admission);
  };

  it("is 20 minutes since the last accepted mark on the station, with Retry-After, limit and window", () => {
    expect(next(20 * minute - 1)).to.include({
      code: "station-cooldown",
      retryAfterS: 1,
      limit: 1,
      window: "1200s",
    });
    expect(next(minute)).to.include({ retryAfterS: 19 * 60 });
    expect(next(20 * minute)).to.equal("accepted");
  });

  it("is 2 minutes when the new mark is express, whatever the last one was", () => {
    expect(next(2 * minute - 1, { express: true })).to.include({
      code: "station-cooldown",
      retryAfterS: 1,
      window: "120s",
    });
    expect(next(2 * minute, { express: true })).to.equal("accepted");
    const desk = openDesk();
    desk.meet("one", known);
    desk.send({ atMs: 0, express: true });
    expect(verdict(desk.send({ atMs: 3 * minute, status: "no" }))).to.equal("station-cooldown");
  });

  it("runs from the receipt, not from the effective time", () => {
    const desk = openDesk();
    desk.meet("one", known);
    desk.send({ atMs: 0, observedAt: t0 - 2 * hour });
    expect(verdict(desk.send({ atMs: minute, status: "no" }))).to.equal("station-cooldown");
  });

  it("is not prolonged by a refused mark", () => {
    const desk = openDesk();
    desk.meet("one", known);
    desk.send({ atMs: 0 });
    desk.send({ atMs: 19 * minute, status: "no" });
    expect(verdict(desk.send({ atMs: 20 * minute, status: "no" }))).to.equal("accepted");
  });
});

describe("intake: caps per reporter (decisions 3)", () => {
  /** Sends a mark each `everyMs`, each at another station, until one is refused. */
  const untilRefused = (firstSeenMs: number | null, everyMs: number) => {
    const desk = openDesk();
    if (firstSeenMs !== null) desk.meet("one", firstSeenMs);
    for (let n = 0; n < 100; n += 1) {
      const admission = desk.send({ atMs: n * everyMs, stationId: `s${n}` });
      if (admission.kind === "refused") return { accepted: n, ...admission.problem };
    }
    return { accepted: 100 };
  };

  const cases: [string, number | null, number, object][] = [
    ["12 an hour", known, minute, { accepted: 12, limit: 12, window: "3600s", retryAfterS: 2880 }],
    ["12 an hour for a new user too", null, minute, { accepted: 12, limit: 12, window: "3600s" }],
    ["60 a day", known, 6 * minute, { accepted: 60, limit: 60, window: "86400s" }],
  ];
  for (const [title, seen, every, expected] of cases)
    it(title, () =>
      expect(untilRefused(seen, every)).to.include({ code: "user-rate-limited", ...expected }),
    );

  it("slides by time of receipt: the 13th passes when the first is an hour old", () => {
    const desk = openDesk();
    desk.meet("one", known);
    for (let n = 0; n < 12; n += 1) desk.send({ atMs: n * second, stationId: `s${n}` });
    expect(verdict(desk.send({ atMs: hour - 1, stationId: "z" }))).to.equal("user-rate-limited");
    expect(verdict(desk.send({ atMs: hour, stationId: "z" }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: hour, stationId: "y" }))).to.equal("user-rate-limited");
  });

  it("only accepted marks count: neither refused ones, nor duplicates, nor expired ones", () => {
    const desk = openDesk();
    desk.meet("one", known);
    for (let n = 0; n < 30; n += 1) {
      desk.send({ atMs: n, stationId: `old${n}`, observedAt: t0 - 25 * hour });
      desk.send({ atMs: n, stationId: "a" });
      desk.send({ atMs: n, stationId: "a", status: "no" });
    }
    for (let n = 0; n < 11; n += 1)
      expect(verdict(desk.send({ atMs: second, stationId: `s${n}` }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: second, stationId: "z" }))).to.equal("user-rate-limited");
  });

  it("a held mark takes cooldown and caps", () => {
    const desk = openDesk();
    desk.block("one");
    for (let n = 0; n < 12; n += 1)
      expect(verdict(desk.send({ atMs: n, stationId: `s${n}`, status: "no" }))).to.equal("held");
    expect(verdict(desk.send({ atMs: 10, stationId: "s0" }))).to.equal("station-cooldown");
    expect(verdict(desk.send({ atMs: 10, stationId: "z" }))).to.equal("user-rate-limited");
  });
});

describe("intake: new reporters (decisions 3)", () => {
  it("500 a day and partner; known ones still pass", () => {
    const desk = openDesk();
    desk.meet("one", known);
    for (let n = 0; n < 500; n += 1)
      expect(verdict(desk.send({ atMs: n, reporter: `new ${n}` }))).to.equal("accepted");
    const refused = desk.send({ atMs: hour, reporter: "late" });
    expect(refused.kind === "refused" && refused.problem).to.include({
      code: "new-users-limit",
      limit: 500,
      window: "86400s",
      retryAfterS: 23 * 3600,
    });
    expect(verdict(desk.send({ atMs: hour, reporter: "new 0" }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: hour }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: hour, reporter: "late", partnerId: 2 }))).to.equal("accepted");
  });

  it("widget: nobody is refused for being new, and none is counted against the 500", () => {
    const desk = openDesk({ ...defaults, newReportersDaily: 1 });
    const widget = { atMs: 0, partnerId: null, viewer: "aa" };
    for (let n = 0; n < 600; n += 1)
      expect(verdict(desk.send({ ...widget, reporter: `device ${n}` }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: 0, reporter: "user" }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: 0, reporter: "user 2" }))).to.equal("new-users-limit");
  });

  it("an expired mark takes no first-seen", () => {
    const desk = openDesk({ ...defaults, newReportersDaily: 1 });
    const old = { atMs: 0, observedAt: t0 - 25 * hour };
    expect(verdict(desk.send({ ...old, reporter: "old" }))).to.equal("expired");
    expect(desk.facts.reporters.get("old")?.firstSeen).to.equal(null);
    expect(verdict(desk.send({ atMs: 0, reporter: "new" }))).to.equal("accepted");
    expect(verdict(desk.send({ atMs: 0, reporter: "old" }))).to.equal("new-users-limit");
  });
});

describe("intake: expired (decisions 2)", () => {
  it("only an effective time more than 24 h before receipt", () => {
    expect(verdicts([{ atMs: 0, observedAt: t0 - day }])).to.deep.equal(["accepted"]);
    expect(verdicts([{ atMs: 0, observedAt: t0 - day - 1 }])).to.deep.equal(["expired"]);
  });

  it("takes no cooldown", () => {
    const old = { atMs: 0, observedAt: t0 - day - 1 };
    expect(verdicts([old, { atMs: 1, status: "no" }])).to.deep.equal(["expired", "accepted"]);
  });

  it("a time ahead of the server counts as the time of receipt", () => {
    const admission = openDesk().send({ atMs: 0, observedAt: t0 + 4 * minute });
    expect(admission).to.include({ kind: "accepted", effectiveAt: t0 });
  });
});

describe("intake: too-far (decisions 3)", () => {
  const remotes: [string, Partial<Sent>][] = [
    ["far coordinates", north(501)],
    ["no coordinates", { lat: null, lon: null }],
    ["a bad accuracy", { accM: 1001 }],
  ];
  for (const [title, more] of remotes) {
    it(`refuses ${title} only where the partner has no-GPS acceptance switched off`, () => {
      expect(verdicts([{ atMs: 0, ...more }])).to.deep.equal(["accepted"]);
      expect(verdicts([{ atMs: 0, ...more, acceptRemote: false }])).to.deep.equal(["too-far"]);
    });
  }

  it("refuses an impossible movement too, and lets a mark at the station pass", () => {
    const moved = { ...north(0), station: { lat: 56, lon: 37 }, lat: 56 };
    expect(
      verdicts([
        { atMs: 0, acceptRemote: false },
        { atMs: minute, stationId: "b", ...moved, acceptRemote: false },
      ]),
    ).to.deep.equal(["accepted", "too-far"]);
  });
});

describe("intake: people whom an operator has blocked (decisions 4)", () => {
  it("are held: nobody's opinion, which makes no other `no` doubtful", () => {
    const desk = openDesk();
    desk.block("one");
    expect(verdict(desk.send({ atMs: 1, status: "no" }))).to.equal("held");
    expect(desk.send({ atMs: 2, status: "no", reporter: "two" })).to.include({
      rule: "geolocated",
      needed: 1,
    });
  });
});
