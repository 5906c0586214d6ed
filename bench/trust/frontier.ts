import { type Config, settings } from "#src/infrastructure/config.ts";
import { type Case, cases } from "#bench/trust/cases.ts";
import { median, percent, tableOf, whole } from "#bench/trust/report.ts";
import { createMeasurer, type Row } from "#bench/trust/row.ts";
import { asItIs, type Variant, variants } from "#bench/trust/variants.ts";
import type { Size } from "#bench/trust/world.ts";

const caseOf = (name: string): Case => {
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case "${name}"`);
  return found;
};

/** The cases with goals that are not reached. */
const chosen = {
  honest: caseOf("honest"),
  noByNew: caseOf("20 % false `no`, newcomers, at the stations"),
  noByOld: caseOf("20 % false `no`, old accounts, at the stations"),
  yesByNew: caseOf("20 % false `yes`, newcomers, at the stations"),
  yesByOld: caseOf("20 % false `yes`, old accounts, at the stations"),
  launch: caseOf("launch through one key, attacked by 500 users of it"),
  oneKey: caseOf("one key, 500 users of day 0: 7 s, at the stations"),
  networks: caseOf("26 networks, a city: 11.5 min, at the stations"),
} as const satisfies Record<string, Case>;
type Rows = Record<keyof typeof chosen, Row>;

/** A variant of the rules, with what each seed gave. */
interface Measured {
  variant: Variant;
  rows: readonly Rows[];
}

/**
 * A table of the chosen cases under the rules as they are, and under variants whose name holds one of `only` (all when
 * empty). `tell` hears of each row when it is measured.
 */
export function frontierOf(
  seeds: readonly number[],
  size: Size,
  config: Config,
  only: readonly string[],
  tell: (line: string) => void,
): string {
  const wanted = variants.filter(
    ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
  );
  const measured = [asItIs, ...wanted].map((variant): Measured => {
    const startedAt = performance.now();
    const rows = seeds.map((seed) => rowsOf(seed, size, config, variant));
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    tell(`${figures({ variant, rows }).join(" | ")} (${seconds} s)`);
    return { variant, rows };
  });
  const [usual] = measured as [Measured];
  return tableOf(head, [goals(usual), rival(usual), ...measured.map(figures)]);
}

function rowsOf(seed: number, size: Size, config: Config, variant: Variant): Rows {
  const measure = createMeasurer(seed, size, { ...config, ...variant.settings }, variant);
  const { honest, noByNew, noByOld, yesByNew, yesByOld, launch, oneKey, networks } = chosen;
  return {
    honest: measure(honest),
    noByNew: measure(noByNew),
    noByOld: measure(noByOld),
    yesByNew: measure(yesByNew),
    yesByOld: measure(yesByOld),
    launch: measure(launch),
    oneKey: measure(oneKey),
    networks: measure(networks),
  };
}

const head = [
  "rules",
  "changed",
  "agreement",
  "false `no`",
  "lag of `no` p50 / p90 min",
  "`no` never published",
  "20 % false `no`: false `no`, by newcomers / old accounts",
  "20 % false `yes`: false fuel, by newcomers / old accounts",
  "stations moved: launch attacked / one key / 26 networks",
  "honest marks held: alone / most under attack",
  "agreement lost at most, 20 % false",
] as const;

const middle = ({ rows }: Measured, pick: (rows: Rows) => number | null): number | null =>
  median(rows.map(pick));

const goals = (usual: Measured): string[] => {
  const quarterBelow = middle(usual, ({ noByOld }) => noByOld.rival.falseNo * 0.75);
  return [
    "the goal",
    "",
    "≥ 90 %",
    "≤ 1.7 %",
    "≤ 6 / ≤ 150",
    "≤ 8 %",
    `≤ 15 % / ≤ ${percent(quarterBelow)}`,
    "≤ 25 % / ≤ 35 %",
    "≤ 200 / ≤ 25 / ≤ 20",
    "≤ 1 % / ≤ 5 %",
    "≤ 5 points",
  ];
};

/** No rules at all: the last mark is served. */
function rival(usual: Measured): string[] {
  const share = (pick: (rows: Rows) => number): string => percent(middle(usual, pick));
  return [
    "last mark wins",
    "no rules",
    share(({ honest }) => honest.rival.agreement),
    share(({ honest }) => honest.rival.falseNo),
    "0 / 0",
    "–",
    `${share(({ noByNew }) => noByNew.rival.falseNo)} / ${share(({ noByOld }) => noByOld.rival.falseNo)}`,
    `${share(({ yesByNew }) => yesByNew.rival.falseFuel)} / ${share(({ yesByOld }) => yesByOld.rival.falseFuel)}`,
    "–",
    "–",
    points(middle(usual, (rows) => lost(rows, ({ rival: { agreement } }) => agreement))),
  ];
}

function figures(measured: Measured): string[] {
  const share = (pick: (rows: Rows) => number): string => percent(middle(measured, pick));
  const count = (pick: (rows: Rows) => number | null): string => whole(middle(measured, pick));
  const moved = (name: "launch" | "oneKey" | "networks"): string =>
    count((rows) => rows[name].attack!.moved.acted);
  return [
    measured.variant.name,
    changesOf(measured.variant),
    share(({ honest }) => honest.agreement),
    share(({ honest }) => honest.falseNo),
    `${count(({ honest }) => honest.lag.p50)} / ${count(({ honest }) => honest.lag.p90)}`,
    share(({ honest }) => honest.lag.never),
    `${share(({ noByNew }) => noByNew.falseNo)} / ${share(({ noByOld }) => noByOld.falseNo)}`,
    `${share(({ yesByNew }) => yesByNew.falseFuel)} / ${share(({ yesByOld }) => yesByOld.falseFuel)}`,
    `${moved("launch")} / ${moved("oneKey")} / ${moved("networks")}`,
    `${share(({ honest }) => heldOf(honest))} / ${share((rows) => Math.max(...Object.values(rows).map(heldOf)))}`,
    points(middle(measured, (rows) => lost(rows, ({ agreement }) => agreement))),
  ];
}

const heldOf = ({ honest }: Row): number => honest.held / honest.sent;

/** How much lower the agreement is where a fifth of all marks are false, at most. */
const lost = (rows: Rows, agreementOf: (row: Row) => number): number => {
  const { honest, noByNew, noByOld, yesByNew, yesByOld } = rows;
  const attacked = [noByNew, noByOld, yesByNew, yesByOld].map(agreementOf);
  return agreementOf(honest) - Math.min(...attacked);
};
const points = (share: number | null): string => ((share ?? 0) * 100).toFixed(1);

/** The settings as an operator would write them. */
const changesOf = (variant: Variant): string =>
  [
    ...Object.entries(variant.settings).map(
      ([name, value]) => `\`${settings[name as keyof typeof settings].env}=${value}\``,
    ),
    ...(variant.launchLimit === undefined ? [] : [`launch \`--limit ${variant.launchLimit}\``]),
  ].join(", ");
