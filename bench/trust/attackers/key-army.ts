import { hourMs, minuteMs } from "#src/domain/units.ts";
import {
  type Attack,
  during,
  evenly,
  type Manner,
  type Scene,
  shuffled,
  stationWith,
} from "#bench/trust/attackers/attack.ts";
import { atPumps, partnersUser, type SentMark } from "#bench/trust/traffic.ts";
import { hadFuel } from "#bench/trust/truth.ts";

/** Users made together count as one device, so they are made in groups a quarter of an hour apart. */
const groups = 5;
const groupEveryMs = 15 * minuteMs;
const madeBeforeMs = 26 * hourMs;

/**
 * A partner's key in the wrong hands: `users` are made on day 0, each by one true mark, and used on day 1 to turn every
 * station of the country to `no`: five marks a station, each from another group. Split over several keys on demand.
 */
export function keyArmy(
  scene: Scene,
  manner: Manner,
  users: number,
  keys: readonly number[],
): Attack {
  const { random, country, truth, attackAt } = scene;
  const army = Array.from({ length: users }, (_, n) => ({
    reporter: partnersUser(keys[n % keys.length]!, `army-${n}`),
    group: Math.floor((n * groups) / users),
  }));
  const made = army.map(({ reporter, group }, n): SentMark => {
    const station = random.int(0, country.stations.length - 1);
    const at = attackAt - madeBeforeMs + group * groupEveryMs + n;
    const status = hadFuel(truth, station, at) ? "yes" : "no";
    const position = atPumps(random, country.stations[station]!);
    return { at, station, status, reporter, position, honest: false };
  });
  const all = country.stations.map((_, index) => index);
  const marks: SentMark[] = [];
  const total = groups * all.length;
  for (let group = 0; group < groups; group += 1) {
    const members = army.filter((one) => one.group === group);
    for (const [n, station] of shuffled(random, all).entries()) {
      const { reporter } = members[n % members.length]!;
      const at = evenly(attackAt, manner.lasts, marks.length, total);
      const position = manner.positions ? atPumps(random, country.stations[station]!) : null;
      marks.push({ at, station, status: "no", reporter, position, honest: false });
    }
  }
  const traffic = { marks: [...made, ...marks], known: [] };
  const selectors = keys.map((key) => ({ key, ...during(traffic, attackAt) }));
  return { traffic, selectors };
}

/** One key on its first day: `users` new ones say `yes` at stations without fuel. */
export function dayZero(scene: Scene, manner: Manner, users: number): Attack {
  const { random, country, truth, attackAt } = scene;
  const key = 1;
  const empty = country.stations.flatMap((_, index) =>
    hadFuel(truth, index, attackAt) ? [] : index,
  );
  const marks = Array.from({ length: users }, (_, n): SentMark => {
    const station = empty[n % empty.length]!;
    return {
      at: evenly(attackAt, manner.lasts, n, users),
      station,
      status: "yes",
      reporter: partnersUser(key, `zero-${n}`),
      position: manner.positions ? atPumps(random, country.stations[station]!) : null,
      honest: false,
    };
  });
  const traffic = { marks, known: [] };
  return { traffic, selectors: [{ key, ...during(traffic, attackAt) }] };
}

/** New users of these keys turn stations with fuel to `no`, two marks a station, each key one mark an hour below its limit. */
export function belowLimit(scene: Scene, keys: readonly number[], hours: number): Attack {
  const { random, country, attackAt } = scene;
  // The limit of a new key is 20 in any hour, honest newcomers' marks included.
  const perHour = 19 * keys.length;
  const pairs = Math.floor((perHour * hours) / 2);
  const marks = Array.from({ length: pairs }, (_, n): SentMark[] => {
    const first = evenly(attackAt, hours * hourMs, n, pairs);
    const station = stationWith(scene, true, first);
    return [first, first + 11 * minuteMs].map((at, half) => {
      const number = 2 * n + half;
      const reporter = partnersUser(keys[number % keys.length]!, `below-${number}`);
      const position = atPumps(random, country.stations[station]!);
      return { at, station, status: "no", reporter, position, honest: false };
    });
  }).flat();
  const traffic = { marks: marks.sort((a, b) => a.at - b.at), known: [] };
  const selectors = keys.map((key) => ({
    key,
    status: "no" as const,
    ...during(traffic, attackAt),
  }));
  return { traffic, selectors };
}
