import type { Cost } from "#bench/trust/chance/cost.ts";
import type { ChanceRow } from "#bench/trust/chance/measure.ts";
import type { Tenth } from "#bench/trust/chance/score.ts";
import type { Choice } from "#bench/trust/chance/trips.ts";
import { ways } from "#bench/trust/chance/ways.ts";
import { median, tableOf } from "#bench/trust/report.ts";
import type { ChanceCase, Goal } from "#bench/trust/chance/cases.ts";

/** A case with its row of each seed. */
export interface MeasuredChance {
  of: ChanceCase;
  rows: readonly ChanceRow[];
}

/** Tables of what a chance is worth beside the published status, medians over the seeds. */
export const chanceReport = (measured: readonly MeasuredChance[], cost: Cost): string =>
  [worth(measured), "Calibration, honest traffic:", calibration(measured[0]!), costs(cost)].join(
    "\n\n",
  );

const head = [
  "case",
  "Brier: published / last mark / decay / chance",
  "calibration error: published / last mark / decay / chance",
  "trip: nearest published / nearest last mark / highest chance / nearest ≥ 0.7, else highest (possible)",
  "km to the first stop: published / highest / nearest ≥ 0.7",
  "goal: Brier, calibration, trip",
] as const;

const worth = (measured: readonly MeasuredChance[]): string => tableOf(head, measured.map(lineOf));

function lineOf({ of, rows }: MeasuredChance): string[] {
  const middle = (pick: (row: ChanceRow) => number): number => median(rows.map(pick)) ?? NaN;
  const trip = (choice: Choice): string => percent(middle(({ trips }) => trips.found[choice]));
  const km = (choice: Choice): string =>
    (middle(({ trips }) => trips.wayM[choice]) / 1000).toFixed(1);
  const shares = (of: "brier" | "calibration"): string =>
    ways.map((way) => middle((row) => row[of][way]).toFixed(3)).join(" / ");
  return [
    of.name,
    shares("brier"),
    shares("calibration"),
    `${trip("published")} / ${trip("last")} / ${trip("highest")} / ${trip("likely")} (${percent(middle(({ trips }) => trips.possible))})`,
    `${km("published")} / ${km("highest")} / ${km("likely")}`,
    verdict(of.goal, {
      brier: [middle((row) => row.brier.chance), middle((row) => row.brier.published)],
      calibration: [
        middle((row) => row.calibration.chance),
        middle((row) => row.calibration.published),
      ],
      trip: [
        middle(({ trips }) => trips.found.likely),
        middle(({ trips }) => trips.found.published),
      ],
    }),
  ];
}

/** Of the chance, and of what is published. */
type Pair = readonly [chance: number, published: number];

function verdict(goal: Goal | null, is: Record<keyof Goal, Pair>): string {
  if (goal === null) return "–";
  const most = (name: "brier" | "calibration"): string => {
    const limit = goal[name];
    if (limit === null) return "–";
    const [chance, published] = is[name];
    return limit === "better"
      ? reached("< published", chance < published)
      : reached(`≤ ${limit}`, chance <= limit);
  };
  const [found, published] = is.trip;
  const trip =
    goal.trip === "better"
      ? reached("> published", found > published)
      : reached(`≥ ${percent(goal.trip)}`, found >= goal.trip);
  return `${most("brier")}; ${most("calibration")}; ${trip}`;
}

const reached = (what: string, yes: boolean): string => (yes ? what : `${what} **not reached**`);
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

/** By tenths of what was said, all seeds together. */
function calibration({ rows }: MeasuredChance): string {
  const sum = (tenth: number, of: keyof Tenth): number =>
    rows.reduce((all, row) => all + row.tenths[tenth]![of], 0);
  const all = rows.flatMap(({ tenths }) => tenths).reduce((total, { count }) => total + count, 0);
  const column = (of: (tenth: number) => string): string[] =>
    Array.from({ length: 10 }, (_, tenth) => of(tenth));
  return tableOf(
    ["chance", ...column((tenth) => `${tenth * 10} to ${tenth * 10 + 10} %`)],
    [
      ["said, in the mean", ...column((n) => percent(sum(n, "said") / sum(n, "count")))],
      ["had fuel", ...column((n) => percent(sum(n, "came") / sum(n, "count")))],
      ["of all looks", ...column((n) => percent(sum(n, "count") / all))],
    ],
  );
}

const costs = ({ stations, markUs, readingUs, bytesAStation }: Cost): string =>
  `CPU time with ${stations} stations in one model: ${markUs.toFixed(0)} µs a mark, ${readingUs.toFixed(1)} µs to bring a station to a later time (the next five hours). Memory: ${(bytesAStation / 1000).toFixed(1)} kB a station, what is known of reporters and sources included.`;
