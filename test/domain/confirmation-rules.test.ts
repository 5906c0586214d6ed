import { expect } from "chai";
import { north, openDesk, type Sent } from "#test/domain/desk.ts";
import { hour, minute, t0 } from "#test/domain/marks.ts";

const day = 24 * hour;

/** What the last of these marks was judged to be; reporter `one` is known for a month. */
function judged(...list: Sent[]) {
  const desk = openDesk();
  for (const name of ["one", "two"]) desk.meet(name, 30 * day);
  const admission = list.map((sent) => desk.send(sent)).at(-1)!;
  if (admission.kind !== "accepted") throw new Error(JSON.stringify(admission));
  const { remote, needed, rule } = admission;
  return { remote, needed, rule };
}
const isRemote = (...list: Sent[]) => judged(...list).remote;

describe("judge: geolocated (decisions 1)", () => {
  const cases: [string, Partial<Sent>, boolean][] = [
    ["at the station", {}, false],
    ["without coordinates", { lat: null, lon: null }, true],
    ["500 m away, no accuracy", north(499.9), false],
    ["more than 500 m away, no accuracy", north(500.1), true],
    ["700 m away with acc_m 200", { ...north(699.9), accM: 200 }, false],
    ["more than 700 m away with acc_m 200", { ...north(700.1), accM: 200 }, true],
    [
      "1,000 m away with acc_m 1000: at most 500 of it count",
      { ...north(999.9), accM: 1000 },
      false,
    ],
    ["more than 1,000 m away with acc_m 1000", { ...north(1000.1), accM: 1000 }, true],
    ["acc_m over 1,000, at the station itself", { accM: 1000.1 }, true],
    ["acc_m 0", { ...north(499.9), accM: 0 }, false],
  ];
  for (const [title, more, remote] of cases)
    it(`${title}: ${remote ? "remote" : "geolocated"}`, () =>
      expect(isRemote({ atMs: 0, ...more })).to.equal(remote));
});

describe("judge: possible movement (decisions 1)", () => {
  /** A mark `m` metres north, at a station there, `atMs` after t0. */
  const there = (m: number, atMs: number, more: Partial<Sent> = {}): Sent => ({
    atMs,
    stationId: "b",
    station: north(m),
    ...north(m),
    ...more,
  });

  it("2 km at once is possible, more is not", () => {
    expect(isRemote({ atMs: 0 }, there(1999.9, 1))).to.equal(false);
    expect(isRemote({ atMs: 0 }, there(2000.1, 1))).to.equal(true);
  });

  it("20 km take 6 minutes at 200 km/h", () => {
    expect(isRemote({ atMs: 0 }, there(20_000, 6 * minute + 10))).to.equal(false);
    expect(isRemote({ atMs: 0 }, there(20_000, 6 * minute - 10))).to.equal(true);
  });

  it("counts from the same reporter's mark only", () => {
    expect(isRemote({ atMs: 0, reporter: "two" }, there(20_000, 1))).to.equal(false);
  });

  it("counts from the previous located mark, however far it was from its station", () => {
    const wrong = { atMs: 0, ...north(90_000) };
    expect(isRemote(wrong, there(20_000, minute))).to.equal(true);
    expect(isRemote({ atMs: 0, lat: null, lon: null }, there(20_000, minute))).to.equal(false);
  });

  it("takes marks in the order of their effective times: a late one is measured from what came before it", () => {
    const early: Sent = { atMs: 0, observedAt: t0 - 10 * hour };
    const late = there(20_000, 2 * minute, { observedAt: t0 - 9 * hour, stationId: "c" });
    expect(isRemote(early, { ...there(0, minute), stationId: "d" }, late)).to.equal(false);
    const tooEarly = { ...late, observedAt: t0 - 10 * hour + minute };
    expect(isRemote(early, { ...there(0, minute), stationId: "d" }, tooEarly)).to.equal(true);
  });

  it("does not count from an expired mark", () => {
    const expired: Sent = { atMs: 0, observedAt: t0 - day - minute };
    expect(isRemote(expired, there(9_000_000, 1))).to.equal(false);
  });
});

describe("judge: needed and rule (decisions 2)", () => {
  const no: Sent = { atMs: minute, status: "no" };
  const other = (more: Partial<Sent> = {}): Sent => ({ atMs: 0, reporter: "two", ...more });
  const far = { lat: null, lon: null };

  it("confirm_min 1: one, by key-threshold, for a remote or doubted mark too", () => {
    expect(judged(other(), { ...no, ...far, confirmMin: 1 })).to.deep.equal({
      remote: true,
      needed: 1,
      rule: "key-threshold",
    });
  });

  it("confirm_min of 3 or more: that many, by key-threshold", () => {
    for (const confirmMin of [3, 5])
      expect(judged({ atMs: 0, confirmMin })).to.deep.equal({
        remote: false,
        needed: confirmMin,
        rule: "key-threshold",
      });
  });

  it("confirm_min 0: a remote mark needs two, whatever its status, `no` with marks nearby included", () => {
    for (const status of ["yes", "low", "queue", "no"] as const)
      expect(judged(other(), { atMs: 1, status, ...far })).to.include({
        needed: 2,
        rule: "remote",
      });
  });

  it("`no` needs two when another reporter has a live mark of any status at this station", () => {
    for (const status of ["yes", "low", "queue", "no"] as const)
      expect(judged(other({ status }), no)).to.include({ needed: 2, rule: "no-nearby-marks" });
  });

  it("or at one within 5 km, and not at one further away", () => {
    expect(judged(other({ stationId: "b" }), { ...no, nearbyIds: ["a", "b"] })).to.include({
      needed: 2,
    });
    expect(judged(other({ stationId: "c" }), { ...no, nearbyIds: ["a", "b"] })).to.include({
      needed: 1,
    });
  });

  it("the reporter's own marks do not count as another's", () => {
    expect(judged({ atMs: 0, stationId: "b" }, { ...no, nearbyIds: ["a", "b"] })).to.include({
      needed: 1,
      rule: "geolocated",
    });
  });

  it("an expired mark is not live", () => {
    expect(judged(other({ observedAt: t0 - day - 1 }), no)).to.include({ needed: 1 });
  });

  it("yes, low and queue near the station need one, whatever stands nearby", () => {
    for (const status of ["yes", "low", "queue"] as const)
      expect(judged(other({ status: "no" }), { atMs: 1, status })).to.deep.equal({
        remote: false,
        needed: 1,
        rule: "geolocated",
      });
  });
});
