import { dayMs, hourMs } from "#src/domain/units.ts";
import { type Attack, during, type Scene, stationWith } from "#bench/trust/attackers/attack.ts";
import {
  type Acquaintance,
  atPumps,
  device,
  type Reporter,
  type SentMark,
} from "#bench/trust/traffic.ts";

/** One false mark on four honest ones. */
const aFifth = 0.25;
const oldAccounts = 400;
/** An old account's next false mark comes so much later, so that its movement is possible. */
const restMs = 2 * hourMs;

export interface Fifth {
  status: "no" | "yes";
  /** Accounts known for weeks; else each mark comes from a new device on a network of its own. */
  old: boolean;
  positions: boolean;
  /** False marks on an honest one, where they are no fifth of all. */
  ofHonest?: number;
}

/** 20 % of all marks are false, over the whole time: `no` where there is fuel, or `yes` where there is none. */
export function fifthFalse(
  scene: Scene,
  { status, old, positions, ofHonest = aFifth }: Fifth,
): Attack {
  const { random, country, from, until, honestMarks } = scene;
  const accounts = Array.from({ length: old ? oldAccounts : 0 }, (_, n) => ({
    reporter: device(`old-home-${n}`, `old-${n}`),
    firstSeen: Math.floor(from - random.between(3, 60) * dayMs),
    lastAt: Number.NEGATIVE_INFINITY,
  }));
  const someone = (n: number, at: number): Reporter => {
    if (!old) return device(`new-home-${n}`, `new-${n}`);
    const rested = accounts.filter(({ lastAt }) => at - lastAt > restMs);
    const one = random.pick(rested);
    one.lastAt = at;
    return one.reporter;
  };
  const times = Array.from({ length: Math.round(honestMarks * ofHonest) }, () =>
    Math.floor(random.between(from, until)),
  ).sort((a, b) => a - b);
  const marks = times.map((at, n): SentMark => {
    const station = stationWith(scene, status === "no", at);
    const position = positions ? atPumps(random, country.stations[station]!) : null;
    return { at, station, status, reporter: someone(n, at), position, honest: false };
  });
  const known = accounts.map(({ reporter, firstSeen }): Acquaintance => ({ reporter, firstSeen }));
  const traffic = { marks, known };
  return { traffic, selectors: [{ status, ...during(traffic, from) }] };
}
