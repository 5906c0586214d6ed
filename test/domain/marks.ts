import fc from "fast-check";
import { decide, type Decision, sortsLast } from "#src/domain/decide.ts";
import { emptyState, type Mark } from "#src/domain/state.ts";
import { statuses } from "#src/domain/vocabulary.ts";

export const minute = 60_000;
export const hour = 60 * minute;
export const rules = {
  statusLifetimeMs: 24 * hour,
  deviceWindowMs: 10 * minute,
  disputeWindowMs: hour,
  newcomerMs: 24 * hour,
  cautionFreshMs: 2 * hour,
  newcomerNoMs: hour,
  opinionsMax: 500,
  priceAlikePercent: 5,
};
export const t0 = Date.UTC(2026, 0, 15, 12);

/** A mark `at` minutes after t0 with what a test does not care about filled in. */
export const mark = (
  id: number,
  reporterId: number,
  atMinutes: number,
  more: Partial<Mark> = {},
): Mark => ({
  id,
  reporterId,
  at: t0 + atMinutes * minute,
  status: "yes",
  remote: false,
  needed: 1,
  rule: "geolocated",
  ...more,
});

export const remote = (
  id: number,
  reporterId: number,
  atMinutes: number,
  more: Partial<Mark> = {},
): Mark => mark(id, reporterId, atMinutes, { remote: true, needed: 2, rule: "remote", ...more });

/** Reporters first seen days ago and an hour apart, so that each is a device of its own. */
export const apart = (reporterId: number): number => t0 - 30 * 24 * hour + reporterId * hour;

/** The marks with the verdicts that they get in their order of receipt, by id. */
export function judgedInOrder(marks: readonly Mark[], now: number, firstSeen = apart): Mark[] {
  const byId = marks.toSorted((a, b) => a.id - b.id);
  const { outcomes } = deliver(byId, now, firstSeen);
  return byId.map((one) => {
    const { needed, rule } = outcomes.get(one.id)!;
    return { ...one, needed, rule };
  });
}

/**
 * Gives marks to `decide` one by one in this order, with the history where one does not sort last. `judged`: their
 * verdicts stand already.
 */
export function deliver(
  marks: readonly Mark[],
  now: number,
  firstSeen = apart,
  judged = false,
): Omit<Decision, "states" | "harms"> {
  let state = emptyState;
  let opinions: readonly Mark[] = [];
  const delivered: Mark[] = [];
  const outcomes = new Map<
    number,
    Decision["outcomes"] extends ReadonlyMap<number, infer O> ? O : never
  >();
  for (const one of marks) {
    const arrivals = { marks: [one], seeds: [], judged: new Set(judged ? [one.id] : []) };
    const history = sortsLast(state, arrivals) ? null : { marks: [...delivered], seeds: [] };
    const decision = decide({ state, opinions, history }, arrivals, firstSeen, now, rules);
    // What is stored comes back as JSON.
    state = JSON.parse(JSON.stringify(decision.state)) as typeof state;
    opinions = [...decision.opinions.values()];
    for (const [id, outcome] of decision.outcomes) outcomes.set(id, outcome);
    const { needed, rule } = decision.outcomes.get(one.id)!;
    delivered.push({ ...one, needed, rule });
  }
  return { state, opinions: new Map(opinions.map((one) => [one.reporterId, one])), outcomes };
}

const arbMark = fc.record({
  reporterId: fc.integer({ min: 1, max: 8 }),
  at: fc.oneof(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 0, max: 50 * 60 })),
  status: fc.constantFrom(...statuses),
  kind: fc.constantFrom("near", "near", "remote", "threshold"),
  fuels: fc.option(fc.constant(["95"] as const), { nil: null }),
  price: fc.option(fc.integer({ min: 4000, max: 7000 }), { nil: null }),
});

/** Marks of up to 8 reporters over two days, crowded at the start so that disputes happen. */
export const arbMarks = fc.array(arbMark, { minLength: 1, maxLength: 40 }).map((list) =>
  list.map((one, index): Mark => {
    const needed =
      one.kind === "remote" || (one.status === "no" && one.kind === "near")
        ? 2
        : one.kind === "threshold"
          ? 3
          : 1;
    const rule =
      one.kind === "remote"
        ? "remote"
        : one.kind === "threshold"
          ? "key-threshold"
          : needed === 2
            ? "no-nearby-marks"
            : "geolocated";
    return {
      ...mark(index + 1, one.reporterId, one.at, {
        status: one.status,
        remote: one.kind === "remote",
        needed,
        rule,
      }),
      ...(one.fuels === null ? {} : { fuels: [...one.fuels] }),
      ...(one.price === null ? {} : { prices: { "95": one.price / 100 } }),
    };
  }),
);

/** First-seen times of reporters 1 to 8 in minutes before t0, some within one window. */
export const arbFirstSeen = fc
  .array(fc.integer({ min: -100, max: 3000 }), { minLength: 8, maxLength: 8 })
  .map((list) => (reporterId: number) => t0 - list[reporterId - 1]! * minute);
