import { minuteMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Case } from "#bench/trust/cases.ts";
import type { PartnerLimits } from "#bench/trust/product.ts";
import { launchDefaults } from "#src/domain/harm-limits.ts";
import { lastMarkWins } from "#bench/trust/last-mark-wins.ts";
import {
  type Agreement,
  agreementOf,
  type Lag,
  lagOf,
  type Window,
} from "#bench/trust/measures.ts";
import { type Moved, movedBy } from "#bench/trust/moved.ts";
import { rollBackBy, type RolledBack } from "#bench/trust/rollback.ts";
import { type Run, simulate } from "#bench/trust/simulate.ts";
import { together } from "#bench/trust/traffic.ts";
import { type HonestKind, makeWorld, type Size, type World } from "#bench/trust/world.ts";

/** One case with one seed, measured. Shares are from 0 to 1. */
export interface Row extends Agreement {
  lag: Lag;
  rival: Agreement;
  honest: { sent: number; held: number; refused: number };
  /** Null where nobody attacks. */
  attack: {
    sent: number;
    counted: number;
    held: number;
    moved: Moved;
    /** Minutes from the attack's first mark to an alarm; null: never. */
    alarmMin: number | null;
    rolledBack: RolledBack;
  } | null;
}

interface Baseline {
  world: World;
  run: Run;
}

/** After `operator partner launch`, with `--limit` for the stations that may be changed in an hour. */
const prepared = (limit: number): PartnerLimits => ({
  newUsersLimit: launchDefaults.newUsers,
  harmLimit: limit,
  isLaunch: true,
});

/** Limits of partners in this kind of traffic; undefined for the usual ones. */
export const partnerLimitsOf = (
  kind: HonestKind,
  launchLimit: number = launchDefaults.limit,
): PartnerLimits | undefined => (kind === "prepared launch" ? prepared(launchLimit) : undefined);

/** Measures cases of one seed. Each kind of honest traffic is simulated once alone, to know what an attack moved. */
export function createMeasurer(
  seed: number,
  size: Size,
  config: Config,
  { launchLimit = launchDefaults.limit }: { launchLimit?: number } = {},
) {
  const limitsOf = (kind: HonestKind) => partnerLimitsOf(kind, launchLimit);
  const baselines = new Map<HonestKind, Baseline>();
  const baselineOf = (kind: HonestKind): Baseline => {
    const known = baselines.get(kind);
    if (known !== undefined) return known;
    const world = makeWorld(seed, kind, size);
    const { country, until } = world.scene;
    const made = { world, run: simulate(country, config, world.honest, until, limitsOf(kind)) };
    baselines.set(kind, made);
    return made;
  };

  return ({ honest: kind, attack: attackOf }: Case): Row => {
    const { world, run: alone } = baselineOf(kind);
    const { country, truth, from, until } = world.scene;
    const window = { from, until };
    const attack = attackOf?.({ ...world.scene, random: world.attackRandom() }) ?? null;
    const traffic = attack === null ? world.honest : together(world.honest, attack.traffic);
    const run = attack === null ? alone : simulate(country, config, traffic, until, limitsOf(kind));
    const lifetimeMs = config.statusLifetimeMs;
    const rival = lastMarkWins(traffic.marks, country.stations.length, lifetimeMs);
    return {
      ...agreementOf(truth, run.timelines, window),
      lag: lagOf(truth, run.timelines, traffic.marks, window),
      rival: agreementOf(truth, rival, window),
      honest: answersTo(run, true, window),
      attack:
        attack === null
          ? null
          : {
              ...answersTo(run, false, window),
              moved: movedBy(run.timelines, alone.timelines, window),
              alarmMin: alarmOf(run, window),
              rolledBack: rollBackBy(attack.selectors, run.answered),
            },
    };
  };
}

/** Minutes from the attack's first false mark to the first one of it that raises an alarm, as each hold does. */
function alarmOf({ answered }: Run, { from }: Window): number | null {
  const attackers = answered.filter(({ sent }) => !sent.honest && sent.at >= from);
  const first = attackers[0];
  const telling = attackers.find(
    ({ admission }) =>
      admission.kind === "accepted" && (admission.review === "held" || admission.told === true),
  );
  return first === undefined || telling === undefined
    ? null
    : (telling.sent.at - first.sent.at) / minuteMs;
}

function answersTo(run: Run, honest: boolean, { from, until }: Window) {
  const sums = { sent: 0, counted: 0, held: 0, refused: 0 };
  for (const { sent, admission } of run.answered) {
    if (sent.honest !== honest || sent.at < from || sent.at >= until) continue;
    sums.sent += 1;
    if (admission.kind === "refused") sums.refused += 1;
    if (admission.kind === "accepted") sums[admission.review === "held" ? "held" : "counted"] += 1;
  }
  return sums;
}
