import { expect } from "chai";
import fc from "fast-check";
import { decide, sortsLast } from "#src/domain/decide.ts";
import { emptyState, type Mark, order, type Seed, type StationState } from "#src/domain/state.ts";
import { transitions, view } from "#src/domain/view.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";
import { minute, rules, t0 } from "#test/domain/marks.ts";
import { sized } from "#test/harness/long.ts";
import { judgedInTurn, type Verdict } from "#test/oracle/caution.ts";
import { asText, oracleMark, oracleSeed } from "#test/oracle/compare.ts";
import { replay } from "#test/oracle/fold.ts";
import type { OracleStory } from "#test/oracle/story.ts";

/** A mark as accepted: what caution makes of it comes later. */
type Sent = Mark & { network?: string };

/** What happens to a station, in the order in which the server learns of it. */
type Happening =
  | { kind: "marks"; marks: Sent[] }
  | { kind: "withdraw"; of: number }
  | { kind: "import"; seed: Seed };

const reporters = 9;
/** ORACLE_FACTOR=20: that many times the runs of the long tests. */
const factor = Number(process.env["ORACLE_FACTOR"] ?? sized(0.04, 1));

/** Crowded minutes, so that disputes happen, and now and then a time far from the others or exactly on a limit. */
const arbAt = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 90 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 50 * 60 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 60, 24 * 60, 25 * 60) },
);

const arbStatement = fc.record({
  fuels: fc.option(fc.subarray([...grades], { minLength: 1 }), { nil: null }),
  fuelsNo: fc.option(fc.subarray([...grades], { minLength: 1 }), { nil: null }),
  queue: fc.option(fc.constantFrom(...queues), { nil: null }),
  prices: fc.option(
    fc.dictionary(
      fc.constantFrom(...grades),
      // Far from the others: each of these is within 5 % of its neighbours only.
      fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constantFrom(100, 104, 109, 114.45, 120)),
      { minKeys: 1 },
    ),
    { nil: null },
  ),
  limitL: fc.constantFrom(undefined, null, 10, 20),
  noCash: fc.constantFrom(null, true, false),
  fuelCardsOnly: fc.constantFrom(null, true, false),
});

/** How a mark came in: at the station, a doubted `no`, from afar, or through a key with a threshold of its own; `pair`: what a doubted `no` is, of another status. */
const kinds = {
  near: { remote: false, needed: 1, rule: "geolocated" },
  doubted: { remote: false, needed: 2, rule: "no-nearby-marks" },
  pair: { remote: false, needed: 2, rule: "key-threshold" },
  remote: { remote: true, needed: 2, rule: "remote" },
  free: { remote: true, needed: 1, rule: "key-threshold" },
  raised: { remote: false, needed: 3, rule: "key-threshold" },
  high: { remote: true, needed: 5, rule: "key-threshold" },
} as const;

const arbMark = fc
  .record({
    reporterId: fc.integer({ min: 1, max: reporters }),
    at: arbAt,
    status: fc.constantFrom("no", "yes", ...statuses),
    kind: fc.constantFrom(
      "doubted",
      "doubted",
      "remote",
      "remote",
      "near",
      "near",
      "near",
      "near",
      "free",
      "raised",
      "high",
    ),
    // Reporters up to 3 come through a partner; a device may be seen in another network, or in a carrier's.
    network: fc.constantFrom("home", "home", "home", "office", null),
    says: fc.option(arbStatement, { nil: null, freq: 2 }),
    // Whether the high prices are far from the median, or the low ones: it changes with time.
    isHighOut: fc.boolean(),
  })
  .map(({ reporterId, at, status, kind, network, says, isHighOut }): Sent => {
    const { fuels, fuelsNo, ...rest } = says ?? { fuels: null, fuelsNo: null };
    const mark: Sent = {
      id: 0,
      at: t0 + at * minute,
      reporterId,
      status: status as Mark["status"],
      ...kinds[kind === "doubted" && status !== "no" ? "pair" : (kind as keyof typeof kinds)],
      ...(rest as Partial<Mark>),
    };
    if (network !== null && reporterId > 3) mark.network = network;
    const out = Object.entries(says?.prices ?? {}).filter(([, price]) =>
      isHighOut ? price > 3 : price <= 3,
    );
    if (out.length > 0) mark.pricesNeeded = Object.fromEntries(out.map(([grade]) => [grade, 2]));
    if (fuels !== null) mark.fuels = fuels;
    // One grade in both lists is refused at intake (decisions 3).
    if (fuelsNo !== null) mark.fuelsNo = fuelsNo.filter((grade) => fuels?.includes(grade) !== true);
    return mark;
  });

/** Two say `no`, and within three hours somebody at the station says otherwise. */
const arbDenied = fc
  .tuple(arbMark, arbMark, arbMark, fc.integer({ min: 0, max: 180 }))
  .map(([one, two, three, later]): Sent[] => [
    { ...one, status: "no", ...kinds.doubted },
    { ...two, at: one.at + minute, status: "no", ...kinds.doubted },
    { ...three, at: one.at + later * minute, status: "yes", ...kinds.near },
  ]);

const arbSeed = fc
  .record({
    at: arbAt,
    age: fc.integer({ min: 0, max: 30 * 60 }),
    status: fc.constantFrom(...statuses),
  })
  .map(({ at, age, status }): Seed => ({
    importedAt: t0 + at * minute,
    updated: t0 + (at - age) * minute,
    status,
    fuelsNow: ["95"],
    fuelsNo: ["98"],
  }));

const arbHappenings = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc
          .array(arbMark, { minLength: 1, maxLength: 4 })
          .map((marks): Happening => ({ kind: "marks", marks })),
      },
      { weight: 2, arbitrary: arbDenied.map((marks): Happening => ({ kind: "marks", marks })) },
      { weight: 1, arbitrary: fc.nat(60).map((of): Happening => ({ kind: "withdraw", of })) },
      { weight: 1, arbitrary: arbSeed.map((seed): Happening => ({ kind: "import", seed })) },
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((list) => {
    let id = 0;
    const imported = new Set<number>();
    return list
      .map((one): Happening =>
        one.kind === "marks"
          ? { ...one, marks: one.marks.map((mark) => ({ ...mark, id: (id += 1) })) }
          : one,
      )
      .filter((one) => {
        if (one.kind !== "import") return true;
        const again = imported.has(one.seed.importedAt);
        imported.add(one.seed.importedAt);
        return !again;
      });
  });

/** First-seen times in minutes against t0: days ago, some within one window, new, or turning 24 h old in between. */
const arbFirstSeen = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.integer({ min: -3000, max: 20 }) },
      { weight: 3, arbitrary: fc.integer({ min: -600, max: 20 }) },
      { weight: 1, arbitrary: fc.integer({ min: -1445, max: -1300 }) },
    ),
    { minLength: reporters, maxLength: reporters },
  )
  .map((list) => (reporterId: number) => t0 + list[reporterId - 1]! * minute);

type Outcomes = Map<number, { outcome: string; have: number }>;

/** How many live opinions count: all of the nine reporters', or so few that most marks push one out. */
const arbOpinionsMax = fc.constantFrom(500, 500, 5, 3);

/** Gives everything to `decide` as a worker does: one step where it sorts last, else with the history. */
function live(
  happenings: readonly Happening[],
  firstSeen: (reporterId: number) => number,
  opinionsMax: number,
) {
  const usedRules = { ...rules, opinionsMax };
  const replayed = (moment: number) =>
    replay(storyOf(marks, seeds, firstSeen, opinionsMax), moment);
  let state: StationState = emptyState;
  let opinions: readonly Mark[] = [];
  /** As the worker left them: with what their first processing made of them. */
  let marks: Sent[] = [];
  const seeds: Seed[] = [];
  const verdicts = new Map<number, Verdict>();
  const expectedVerdicts = new Map<number, Verdict>();
  const outcomes: Outcomes = new Map();
  const expected: Outcomes = new Map();
  let now = t0;
  for (const one of happenings) {
    const arrivals = {
      marks: one.kind === "marks" ? one.marks : [],
      seeds: one.kind === "import" ? [one.seed] : [],
    };
    now = Math.max(now, ...timesOf(arrivals));
    if (one.kind === "withdraw") {
      if (marks.length === 0) continue;
      marks = marks.toSpliced(one.of % marks.length, 1);
      // It may be the withdrawn mark's, so the worker lets go of it.
      state = { ...state, lastUpdated: null };
    }
    const steps = one.kind !== "withdraw" && sortsLast(state, arrivals);
    const history = steps ? null : { marks: [...marks], seeds: [...seeds] };
    const story = storyOf(marks, seeds, firstSeen, opinionsMax);
    judgedInTurn(arrivals.marks.map(oracleMark), story, expectedVerdicts);
    const decision = decide({ state, opinions, history }, arrivals, firstSeen, now, usedRules);
    for (const [id, { needed, rule }] of decision.outcomes) verdicts.set(id, { needed, rule });
    for (const [id, { outcome, have }] of decision.outcomes) outcomes.set(id, { outcome, have });
    // What is stored comes back as JSON.
    state = JSON.parse(JSON.stringify(decision.state)) as StationState;
    opinions = [...decision.opinions.values()];
    // Marks that sort last come one after the other, each seen until the next has its moment; late ones are all there
    // before anything is said of one.
    const judged = arrivals.marks.map((mark): Sent => ({
      ...mark,
      ...(expectedVerdicts.get(mark.id) as Kept),
    }));
    const together = steps ? judged.toSorted(order).map((mark) => [mark]) : [judged];
    let { block } = replayed(now);
    for (const [index, some] of together.entries()) {
      const moment = Math.min(now, together[index + 1]?.[0]?.at ?? now);
      marks.push(...some);
      const after = replayed(moment);
      const before = block.status === "nodata" || block.seeded ? null : block.status;
      for (const mark of some) expected.set(mark.id, after.outcome(oracleMark(mark), before));
      ({ block } = after);
    }
    seeds.push(...arrivals.seeds);
  }
  return { state, marks, seeds, outcomes, expected, verdicts, expectedVerdicts };
}

type Kept = Pick<Mark, "needed" | "rule">;

const timesOf = ({ marks, seeds }: { marks: readonly Mark[]; seeds: readonly Seed[] }) => [
  ...marks.map((mark) => mark.at),
  ...seeds.map((seed) => seed.importedAt),
];

const storyOf = (
  marks: readonly Sent[],
  seeds: readonly Seed[],
  firstSeen: (reporterId: number) => number,
  opinionsMax: number,
): OracleStory => ({
  opinionsMax,
  marks: marks.map(oracleMark),
  seeds: seeds.map(oracleSeed),
  firstSeen: (reporter) => firstSeen(Number(reporter)),
});

const shownAt = (state: StationState, moment: number) =>
  asText(view(state, moment, rules.statusLifetimeMs));

describe("oracle: decide against a second reading of decisions 2", function () {
  this.timeout(240_000 * Math.max(1, factor));

  it("serves what the oracle serves, at any later moment, whatever was late, withdrawn or imported", () => {
    fc.assert(
      fc.property(
        arbHappenings,
        arbFirstSeen,
        arbOpinionsMax,
        fc.array(fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 3000 })), {
          minLength: 1,
          maxLength: 4,
        }),
        (happenings, firstSeen, opinionsMax, laters) => {
          const { state, marks, seeds } = live(happenings, firstSeen, opinionsMax);
          const last = Math.max(t0, ...timesOf({ marks, seeds }));
          for (const later of [0, 24 * 60, ...laters]) {
            const moment = last + later * minute;
            expect(shownAt(state, moment), `${later} min later`).to.equal(
              asText(replay(storyOf(marks, seeds, firstSeen, opinionsMax), moment).block),
            );
          }
        },
      ),
      { numRuns: 1000 * factor, ...repeated() },
    );
  });

  it("says of every arriving mark what the oracle says it needs, and what became of it", () => {
    fc.assert(
      fc.property(
        arbHappenings,
        arbFirstSeen,
        arbOpinionsMax,
        (happenings, firstSeen, opinionsMax) => {
          const lived = live(happenings, firstSeen, opinionsMax);
          const { outcomes, expected, verdicts, expectedVerdicts } = lived;
          expect(listed(outcomes)).to.equal(listed(expected));
          expect(needs(verdicts)).to.equal(needs(expectedVerdicts));
        },
      ),
      { numRuns: 700 * factor, ...repeated() },
    );
  });

  it("draws stories in which caution, networks, waiting details and prices out of line matter", () => {
    const met = { cautionFuel: 0, cautionNo: 0, network: 0, waiting: 0, line: 0, late: 0 };
    const stories = fc.sample(fc.tuple(arbHappenings, arbFirstSeen), { numRuns: 400, seed: 7 });
    for (const [happenings, firstSeen] of stories) {
      const sent = happenings.flatMap((one) => (one.kind === "marks" ? one.marks : []));
      const story = storyOf([], [], firstSeen, 500);
      const marks = judgedInTurn(sent.map(oracleMark), story, new Map());
      const cautious = marks.filter((mark) => mark.rule === "caution");
      met.cautionFuel += cautious.filter((mark) => mark.status !== "no").length;
      met.cautionNo += cautious.filter((mark) => mark.status === "no").length;
      met.late += marks.filter((mark, n) =>
        marks.slice(0, n).some((one) => one.at > mark.at),
      ).length;
      const now = t0 + 91 * minute;
      const { block, standing } = replay({ ...story, marks }, now);
      const alone = marks.map(({ network: _network, ...mark }) => mark);
      if (asText(block) !== asText(replay({ ...story, marks: alone }, now).block)) met.network += 1;
      const inLine = marks.map(({ pricesNeeded: _needed, ...mark }) => mark);
      if (block.prices !== replay({ ...story, marks: inLine }, now).block.prices) met.line += 1;
      const limit = standing.supporters.findLast(({ says }) => says.limitL !== undefined);
      if ((limit?.says.limitL ?? null) !== block.limit_l) met.waiting += 1;
    }
    expect(Math.min(...Object.values(met)), JSON.stringify(met)).to.be.above(20);
  });

  it("changes nothing between the instants that it names, so that no read needs to look in between", () => {
    fc.assert(
      fc.property(
        arbHappenings,
        arbFirstSeen,
        arbOpinionsMax,
        fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 2, maxLength: 8 }),
        (happenings, firstSeen, opinionsMax, laters) => {
          const { state, marks, seeds } = live(happenings, firstSeen, opinionsMax);
          const last = Math.max(t0, ...timesOf({ marks, seeds }));
          const named = transitions(state, rules.statusLifetimeMs);
          for (const later of laters) {
            const moment = last + later * minute;
            const since = Math.max(last, ...named.filter((at) => at <= moment));
            expect(shownAt(state, moment)).to.equal(shownAt(state, since));
          }
        },
      ),
      { numRuns: 500 * factor, ...repeated() },
    );
  });
});

/** A run to repeat: ORACLE_SEED and ORACLE_PATH as fast-check printed them. */
function repeated(): { seed?: number; path?: string } {
  const { ORACLE_SEED: seed, ORACLE_PATH: path } = process.env;
  return {
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  };
}

const needs = (verdicts: ReadonlyMap<number, Verdict>): string =>
  [...verdicts]
    .sort(([a], [b]) => a - b)
    .map(([id, { needed, rule }]) => `${id} ${needed} ${rule}`)
    .join("\n");

const listed = (outcomes: Outcomes): string =>
  [...outcomes]
    .sort(([a], [b]) => a - b)
    .map(([id, { outcome, have }]) => `${id} ${outcome} ${have}`)
    .join("\n");
