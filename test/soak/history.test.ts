import { expect } from "chai";
import { formatTime } from "#src/domain/time.ts";
import { checkCopies, checkMarks, createHistory, type Read } from "#test/fault/history.ts";
import type { Sent } from "#test/fault/load.ts";

const noon = Date.UTC(2026, 0, 1, 12);
const station = (status: string): string =>
  JSON.stringify({ station: { fuel: { status, updated: formatTime(noon - 1000) } } });

/** An answer that took from `at` to `at + 10` ms after noon, good unless told otherwise. */
const answer = (at: number, given: Partial<Read> = {}): Read => ({
  ...{ from: "web1#1", path: "/stations/n1", key: "secret of 1", status: 200, etag: 'W/"a"' },
  ...{ sentEtag: null, body: station("yes"), asOf: null, broken: null },
  ...{ startedAt: noon + at, endedAt: noon + at + 10, ...given },
});
const listed = (at: number, asOfMs: number, given: Partial<Read> = {}): Read =>
  answer(at, { etag: null, body: `{"stations":[],"as_of":"${formatTime(asOfMs)}"}`, ...given });
const unchanged = (at: number, etag: string): Read =>
  answer(at, { status: 304, body: null, etag, sentEtag: etag });

/** What is found in these answers, in their order. */
function found(...reads: Read[]): string[] {
  const history = createHistory();
  for (const read of reads) history.note(read);
  return history.violations.map(({ invariant }) => invariant);
}

describe("the checker of histories: answers", () => {
  it("finds nothing in a good history", () => {
    expect(
      found(
        answer(0),
        unchanged(20, 'W/"a"'),
        answer(40, { etag: 'W/"b"', body: station("no") }),
        unchanged(60, 'W/"b"'),
        listed(80, noon - 1000),
        listed(100, noon),
      ),
    ).to.deep.equal([]);
  });

  it("finds an ETag with two contents, on one process or on two", () => {
    for (const from of ["web1#1", "web2#1"])
      expect(found(answer(0), answer(20, { from, body: station("no") }))).to.deep.equal([
        "an ETag has one content",
      ]);
  });

  it("does not take `as_of` for content", () => {
    const [first, second] = [noon - 2000, noon - 1000].map((asOf, n) => listed(n * 20, asOf));
    expect(found({ ...first!, etag: "e" }, { ...second!, etag: "e" })).to.deep.equal([]);
  });

  it("does not take the order of a list for content", () => {
    const [first, second] = ["[1,2]", "[2,1]"].map((ids, n) =>
      answer(n * 20, { body: `{"stations":${ids}}` }),
    );
    expect(found(first!, second!)).to.deep.equal([]);
  });

  it("finds a 304 for what is not equal any more", () => {
    const changed = answer(20, { etag: 'W/"b"', body: station("no") });
    expect(found(answer(0), changed, unchanged(40, 'W/"a"'))).to.deep.equal([
      "a 304 says that the content is still the same",
    ]);
    // While it was on its way, either may have been right.
    expect(found(answer(0), changed, unchanged(25, 'W/"a"'))).to.deep.equal([]);
    // It was taken back in between.
    expect(found(answer(0), changed, answer(40), unchanged(60, 'W/"a"'))).to.deep.equal([]);
  });

  it("lets what was shown before come back while a decision is taken back, and shortly after", () => {
    const history = createHistory();
    const isDone = history.takesBack();
    const now = Date.now() - noon;
    const changed = (at: number): Read => answer(at, { etag: 'W/"b"', body: station("no") });
    for (const read of [answer(now), changed(now + 20), unchanged(now + 40, 'W/"a"')])
      history.note(read);
    isDone();
    expect(history.violations).to.deep.equal([]);
    for (const read of [changed(now + 60_000), unchanged(now + 60_020, 'W/"a"')])
      history.note(read);
    expect(history.violations.length).to.equal(1);
  });

  it("finds a 304 with an ETag that was not sent", () => {
    expect(found({ ...unchanged(0, 'W/"a"'), sentEtag: 'W/"b"' })).to.deep.equal([
      "a 304 answers an ETag that was sent",
    ]);
  });

  it("finds an `as_of` that goes back on one process, and lets another process be behind", () => {
    const reads = [listed(0, noon), listed(20, noon - 1000)] as const;
    expect(found(...reads)).to.deep.equal(["as_of of one process does not go back"]);
    expect(found(reads[0], { ...reads[1], from: "web2#1" })).to.deep.equal([]);
    // The later one began before the other had ended.
    expect(found(reads[0], { ...reads[1], startedAt: noon + 5 })).to.deep.equal([]);
    // A dump may be behind the model that answered before, but not without bound.
    const path = "/stations/all";
    expect(found(...reads.map((read) => ({ ...read, path })))).to.deep.equal([]);
    expect(found({ ...reads[0], path }, { ...listed(20, noon - 80_000), path })).to.deep.equal([
      "as_of of one process does not go back",
    ]);
  });

  it("finds times in the future", () => {
    expect(found(listed(0, noon + 5000))).to.deep.equal(["as_of is not in the future"]);
    const body = JSON.stringify({ station: { fuel: { updated: formatTime(noon + 5000) } } });
    expect(found(answer(0, { body }))).to.deep.equal(["`updated` is not in the future"]);
  });

  it("finds an answer that cannot be read", () => {
    expect(found(answer(0, { broken: "gzip: incorrect header check", body: null }))).to.deep.equal([
      "every answer can be read",
    ]);
  });

  it("finds a key that still opens something a minute after it was revoked", () => {
    const history = createHistory();
    history.revoked("secret of 1", noon);
    history.note(answer(59_000));
    history.note(answer(61_000, { status: 401, body: null, etag: null }));
    history.note(answer(61_000, { key: "secret of 2", etag: 'W/"c"' }));
    expect(history.violations).to.deep.equal([]);
    history.note(answer(61_000));
    expect(history.violations.map(({ invariant }) => invariant)).to.deep.equal([
      "a revoked key is refused after a minute",
    ]);
  });
});

describe("the checker of histories: marks and copies", () => {
  const sent = (externalId: string, status: number, reportId = externalId): Sent => ({
    ...{ externalId, station: 1, startedAt: noon, endedAt: noon, retryAfter: null },
    ...{ status, body: { report_id: reportId } },
  });
  const row = (id: string, done = true) => ({ id, external_id: id, done });
  const marksFound = (...args: Parameters<typeof checkMarks>): string[] =>
    checkMarks(...args).map(({ invariant }) => invariant);

  it("finds nothing where each acknowledged mark is stored once", () => {
    const marks = [sent("1", 200), sent("2", 503), sent("2", 202), sent("3", 0), sent("4", 429)];
    expect(marksFound(marks, [row("1"), row("2"), row("3")])).to.deep.equal([]);
  });

  it("finds lost, doubled, renamed, idle and refused marks", () => {
    expect(marksFound([sent("1", 200)], [])).to.deep.equal([
      "no acknowledged mark is lost (1 of 1)",
    ]);
    expect(marksFound([], [row("1"), row("1")])).to.deep.equal([
      "no mark is stored twice (1 of 2)",
    ]);
    expect(marksFound([sent("1", 202, "7")], [row("1")])).to.deep.equal([
      "an acknowledged mark has the id that was answered (1 of 1)",
    ]);
    expect(marksFound([sent("1", 202)], [row("1", false)])).to.deep.equal([
      "every acknowledged mark is in effect (1 of 1)",
    ]);
    expect(marksFound([sent("1", 422)], [row("1")])).to.deep.equal([
      "no refused mark is stored (1 of 1)",
    ]);
  });

  it("finds a copy that lacks a station, has one too many, or shows another state", () => {
    const truth = new Map([["n1", "yes"]]);
    for (const copy of [
      [],
      [["n1", "no"]],
      [
        ["n1", "yes"],
        ["n2", "no"],
      ],
    ] as [string, string][][])
      expect(checkCopies(truth, new Map([["a mirror", new Map(copy)]]))).to.have.length(1);
    expect(checkCopies(truth, new Map([["a mirror", truth]]))).to.deep.equal([]);
  });
});
