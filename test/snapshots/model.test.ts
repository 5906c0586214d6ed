import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import fc from "fast-check";
import type { FeedRow } from "#src/feed/feed.ts";
import type { Piece } from "#snapshots/model/area-selection.ts";
import { createReadModel, type ReadModel } from "#snapshots/model/model.ts";
import type { AreaQuery } from "#snapshots/model/queries.ts";
import { area, filters, lifetimeMs, row, startMs } from "#test/snapshots/arbitraries.ts";
import { createOracle, type PlainStation } from "#test/snapshots/oracle.ts";
import { until } from "#test/flow/client.ts";
import { sized } from "#test/harness/long.ts";

const textOf = (pieces: readonly Piece[]): string =>
  Buffer.concat(pieces.map(({ bytes }) => bytes)).toString();
const parse = (pieces: readonly Piece[]): PlainStation[] =>
  JSON.parse(`[${textOf(pieces)}]`) as PlainStation[];
const sorted = (stations: PlainStation[]): PlainStation[] =>
  stations.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Steps that happen to a model: rows of the feed, new states of stations that it has, time that passes, a reading. */
type Step =
  | { rows: FeedRow[] }
  | { states: (Pick<FeedRow, "at" | "state" | "chance"> & { which: number; name?: string })[] }
  | { passMs: number }
  | "read";
const newState = fc.tuple(row(600), fc.nat()).map(([{ at, state, chance, name }, which]) => ({
  ...{ at, state, chance, which },
  ...(which % 5 === 0 ? { name } : {}),
}));
const restating: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ states: fc.array(newState, { maxLength: 3 }) }) },
  fc.record({ passMs: fc.integer({ min: 0, max: 60_000 }) }),
  fc.record({ passMs: fc.integer({ min: 0, max: 26 * 3_600_000 }) }),
  fc.constant("read" as const),
);
const steps = fc.array(
  fc.oneof(
    fc.record({ rows: fc.array(row(60), { maxLength: 8 }) }),
    fc.record({ rows: fc.array(row(600), { minLength: 100, maxLength: 400, size: "max" }) }),
    restating,
  ),
  { minLength: 1, maxLength: 8 },
);

function play(script: readonly Step[]) {
  // Little is held plain, so that most blocks are read from their deflated form. Both groupings give the same answers.
  const inIdOrder = script.length % 2 === 0;
  const plainBytes = script.length % 3 === 0 ? 200_000 : 20_000;
  const model = createReadModel({ lifetimeMs, plainBytes, inIdOrder });
  const oracle = createOracle(lifetimeMs);
  const rows: FeedRow[] = [];
  const known = new Map<string, FeedRow>();
  const given: { pieces: Piece[]; text: string }[] = [];
  let now = startMs;
  for (const step of script) {
    if (step === "read") {
      const pieces = model.query({ area: { kind: "all" }, limit: 4000, now }).pieces();
      given.push({ pieces, text: textOf(pieces) });
    } else if ("passMs" in step) now += step.passMs;
    else {
      const came = "rows" in step ? step.rows : restated([...known.values()], step.states);
      for (const one of came) known.set(one.id, one);
      rows.push(...came);
      model.apply(came, now);
      oracle.apply(came);
    }
  }
  for (const { pieces, text } of given) expect(textOf(pieces)).to.equal(text);
  return { model, oracle, now, rows };
}

function restated(known: FeedRow[], states: Extract<Step, { states: unknown }>["states"]) {
  if (known.length === 0) return [];
  return states.map(({ which, ...state }) => ({ ...known[which % known.length]!, ...state }));
}

/** The same content reached in one step, in another order. */
function fresh(rows: readonly FeedRow[], now: number): ReadModel {
  const last = new Map(rows.map((one) => [one.id, one]));
  const model = createReadModel({ lifetimeMs });
  model.apply([...last.values()].reverse(), now);
  return model;
}

describe("read model, against an obvious one", function () {
  it("finds the same stations in any area with any filters after any history", () => {
    fc.assert(
      fc.property(
        steps,
        fc.array(fc.tuple(area, filters), { minLength: 6, maxLength: 6 }),
        (script, asked) => {
          const { model, oracle, now } = play(script);
          for (const [where, which] of asked) {
            const query = { area: where, filters: which, limit: 4000, now };
            const answer = model.query(query);
            const expected = sorted(oracle.query(query));
            expect(sorted(parse(answer.pieces()))).to.deep.equal(expected);
            expect(answer.count).to.equal(expected.length);
            expect(answer.truncated).to.equal(false);
          }
        },
      ),
      { numRuns: sized(10, 50) },
    );
  });

  it("keeps the nearest when it cuts, and orders them when asked to", () => {
    fc.assert(
      fc.property(
        steps,
        area,
        filters,
        fc.integer({ min: 1, max: 50 }),
        (script, where, which, limit) => {
          const { model, oracle, now } = play(script);
          const query: AreaQuery = { area: where, filters: which, limit, now };
          const nearest = oracle.query(query);
          const more = oracle.query({ ...query, limit: 4000 }).length > limit;
          const answer = model.query(query);
          expect(sorted(parse(answer.pieces()))).to.deep.equal(sorted(nearest));
          expect(answer.truncated).to.equal(more);
          const ordered = model.query({ ...query, sort: "distance" });
          const likeliest = model.query({ ...query, sort: "chance" });
          expect(parse(ordered.pieces())).to.deep.equal(nearest);
          expect(parse(likeliest.pieces())).to.deep.equal(
            oracle.query({ ...query, sort: "chance" }),
          );
          expect(ordered.sum).to.equal(answer.sum);
        },
      ),
      { numRuns: sized(10, 50) },
    );
  });

  it("delivers in a delta whatever changed at or after a moment, removals too", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: -3600_000, max: 120_000 }), (script, offset) => {
        const { model, oracle, now } = play(script);
        const answer = model.changesOf(model.changedSince(startMs + offset, now), now);
        const expected = oracle.delta(startMs + offset, now);
        expect(parse(answer.pieces())).to.deep.equal(expected.stations);
        expect(answer.count).to.equal(expected.stations.length);
        expect(answer.removed).to.deep.equal(expected.removed);
      }),
      { numRuns: sized(10, 50) },
    );
  });

  it("is right again when its time went back and the rows came anew, and tells of it in a delta", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 400 * 24 * 3_600_000 }), (script, aheadMs) => {
        const { model, oracle, now, rows } = play(script);
        model.drain(now + aheadMs);
        const wrong = model.page({ after: "", limit: Infinity, now });
        const copy = new Map(parse(wrong.pieces()).map((station) => [station.id, station]));
        const ids = new Set(model.rewind(now));
        model.apply(
          rows.filter(({ id }) => ids.has(id)),
          now,
        );
        const everything = model.page({ after: "", limit: Infinity, now });
        const shown = parse(everything.pieces());
        expect(shown).to.deep.equal(oracle.all({}, now));
        // Who copied the later time's content and goes on from now.
        const changes = model.changesOf(model.changedSince(now, now), now);
        for (const station of parse(changes.pieces())) copy.set(station.id, station);
        expect([...copy.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))).to.deep.equal(shown);
      }),
      { numRuns: sized(10, 100) },
    );
  });

  it("pages through the country in id order, each station once", () => {
    fc.assert(
      fc.property(steps, filters, fc.integer({ min: 1, max: 200 }), (script, which, limit) => {
        const { model, oracle, now } = play(script);
        const expected = oracle.all(which, now);
        const got: PlainStation[] = [];
        for (let after = "", more = true; more;) {
          const page = model.page({ filters: which, after, limit, now });
          got.push(...parse(page.pieces()));
          expect(page.whole.count).to.equal(expected.length);
          after = page.next;
          more = after !== "";
        }
        expect(got).to.deep.equal(expected);
      }),
      { numRuns: sized(8, 40) },
    );
  });

  it("gives equal sums for equal content, whatever the history", () => {
    fc.assert(
      fc.property(steps, area, filters, (script, where, which) => {
        const { model, now, rows } = play(script);
        const other = fresh(rows, now);
        const query = { area: where, filters: which, limit: 100, now };
        expect(other.query(query).sum).to.equal(model.query(query).sum);
        expect(other.whole(now)).to.deep.equal(model.whole(now));
        const [a, b] = [other, model].map((one) =>
          one.changesOf(one.changedSince(startMs, now), now),
        );
        expect(a!.sum).to.equal(b!.sum);
        expect(model.page({ after: "", limit: 30_000, now }).sum).to.equal(model.whole(now).sum);
      }),
      { numRuns: sized(8, 40) },
    );
  });

  it("holds what it was given when single stations change where they are", () => {
    const rows = fc
      .array(row(600), { minLength: 40, maxLength: 40, size: "max" })
      .map((all) => ({ rows: all.map((one, n) => ({ ...one, id: `n${n}`, removed: false })) }));
    const changes = fc.array(restating, { minLength: 6, maxLength: 24, size: "max" });
    fc.assert(
      fc.property(rows, changes, filters, (first, others, which) => {
        const { model, oracle, now } = play([first, ...others]);
        for (const some of [which, { words: ["азс"] }, { words: ["берез"] }, {}]) {
          const page = model.page({ filters: some, after: "", limit: Infinity, now });
          expect(parse(page.pieces())).to.deep.equal(oracle.all(some, now));
        }
      }),
      { numRuns: sized(20, 200) },
    );
  });

  it("keeps nothing of a block's former states, however many there were without a reading", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const stations = fc.sample(row(600), { numRuns: 100, seed: 1 });
    const known = stations.map((one, n) => ({ ...one, id: `n${n}`, removed: false }));
    const model = createReadModel({ lifetimeMs });
    const restate = (times: number): void => {
      for (let n = 0; n < times; n++) {
        const { at, state, chance } = stations[n % stations.length]!;
        model.apply([{ ...known[0]!, at, state, chance }], startMs);
      }
    };
    const held = (): number => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    model.apply(known, startMs);
    restate(200);
    const before = held();
    restate(2000);
    // The records alone are 8,700 bytes a change. V8 frees them a moment after the collection.
    await until(
      async () => held() - before,
      (bytes) => bytes < 2000 * 2000,
    );
  });

  it("finds for somebody who types: that id first, then every word, then ids that begin so", () => {
    const text = fc.constantFrom("n1", "n12", "n", "shell", "АЗС", "березка", "красный лук", "zz");
    fc.assert(
      fc.property(steps, text, fc.integer({ min: 1, max: 700 }), (script, q, limit) => {
        const { model, oracle, now } = play(script);
        const idsOf = (list: readonly PlainStation[]): string[] => list.map(({ id }) => id);
        const all = idsOf(oracle.all({}, now));
        const exact = all.filter((id) => id === q);
        const words = q.toLowerCase().split(" ");
        const named = idsOf(oracle.all({ words }, now)).filter((id) => id !== q);
        const begun = all.filter((id) => id.startsWith(q) && id !== q && !named.includes(id));
        const found = model.typed(q, limit, now);
        const parts = [exact, named, begun.toSorted()];
        expect(found).to.have.length(Math.min(limit, parts.flat().length));
        let from = 0;
        for (const part of parts) {
          const got = found.slice(from, (from += part.length));
          expect(part).to.include.members(got);
          expect(new Set(got).size).to.equal(got.length);
        }
      }),
      { numRuns: sized(15, 60) },
    );
  });

  it("answers for one station as for many", () => {
    fc.assert(
      fc.property(steps, (script) => {
        const { model, oracle, now } = play(script);
        const all = new Map(oracle.all({}, now).map((station) => [station.id, station]));
        for (let n = 1; n <= 600; n += 7) {
          const one = model.station(`n${n}`, now);
          const expected = all.get(`n${n}`) ?? null;
          expect(one === null ? null : JSON.parse(one.fragment.toString())).to.deep.equal(expected);
          expect(model.fuel(`n${n}`, now)).to.deep.equal(expected?.fuel ?? null);
        }
      }),
      { numRuns: sized(4, 20) },
    );
  });
});
