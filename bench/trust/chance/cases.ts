import { fifthFalse } from "#bench/trust/attackers/fifth.ts";
import { sleepers } from "#bench/trust/attackers/sleepers.ts";
import { type Case, cases } from "#bench/trust/cases.ts";
import type { HonestKind } from "#bench/trust/world.ts";

/** At most, at least; `better`: than what is published. Null: none. */
export interface Goal {
  brier: number | "better";
  calibration: number | "better" | null;
  trip: number | "better";
}

export interface ChanceCase extends Case {
  /** Null where everything is broken, and only shown. */
  goal: Goal | null;
}

const statuses = ["no", "yes"] as const;
const better: Goal = { brier: "better", calibration: "better", trip: "better" };
const asleep: Goal = { brier: 0.12, calibration: null, trip: 0.76 };

const known = (name: string, goal: Goal | null): ChanceCase => {
  const found = cases.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no case "${name}"`);
  return { ...found, goal };
};
const unlike = (honest: HonestKind): ChanceCase => ({
  name: honest,
  honest,
  attack: null,
  goal: better,
});
const attacked = (name: string, attack: Case["attack"], goal: Goal | null): ChanceCase => ({
  name,
  honest: "usual",
  attack,
  goal,
});

/** Traffic as the model takes it for usual, traffic unlike that, and attackers. */
export const chanceCases: readonly ChanceCase[] = [
  known("honest", { brier: 0.035, calibration: 0.03, trip: 0.88 }),
  ...statuses.flatMap((status) => [
    known(`20 % false \`${status}\`, newcomers, at the stations`, {
      brier: 0.07,
      calibration: 0.06,
      trip: 0.82,
    }),
    known(`20 % false \`${status}\`, old accounts, at the stations`, {
      brier: 0.1,
      calibration: 0.06,
      trip: 0.78,
    }),
  ]),
  known("launch through one key: all new", { brier: 0.045, calibration: 0.04, trip: 0.85 }),
  unlike("few reports"),
  unlike("many reports"),
  unlike("careless"),
  unlike("silent after changes"),
  ...statuses.map((status) =>
    attacked(
      `sleepers: honest for a day, then 20 % false \`${status}\``,
      (scene) => sleepers(scene, status),
      asleep,
    ),
  ),
  ...statuses.map((status) =>
    attacked(
      `half of all marks false \`${status}\`, old accounts`,
      (scene) => fifthFalse(scene, { status, old: true, positions: true, ofHonest: 1 }),
      null,
    ),
  ),
  known("one key, 500 users of day 0: 7 s, at the stations", null),
  known("one key, 500 users of day 0: over 24 h, at the stations", null),
];
