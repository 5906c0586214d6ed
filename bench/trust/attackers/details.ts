import { dayMs } from "#src/domain/units.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";
import {
  type Attack,
  during,
  evenly,
  type Manner,
  type Scene,
  shuffled,
} from "#bench/trust/attackers/attack.ts";
import {
  atPumps,
  carriers,
  device,
  type Reporter,
  type SentMark,
  widgetKeyId,
} from "#bench/trust/traffic.ts";
import { hadFuel } from "#bench/trust/truth.ts";

/** Every grade out, a litre a person, cards only, and a price that nobody pays. */
const useless = {
  status: "yes",
  fuelsNo: grades,
  limitL: 1,
  noCash: true,
  fuelCardsOnly: true,
  prices: Object.fromEntries(grades.map((grade) => [grade, 999.99])) as Record<Grade, number>,
} as const;

/** One address, 20 new devices: `count` stations that have fuel are made useless, one device each. */
export const detailBots = (scene: Scene, manner: Manner, count: number): Attack =>
  spoil(scene, manner, count, (n) => device(carriers[0]!, `detail-bot-${n % 20}`), []);

/** One device that was known for a month, at as many stations as its caps allow. */
export function loneDevice(scene: Scene, manner: Manner, count: number): Attack {
  const reporter = device(carriers[1]!, "lone-device");
  const known = [{ reporter, firstSeen: scene.from - 30 * dayMs }];
  return spoil(scene, manner, count, () => reporter, known);
}

function spoil(
  { random, country, truth, attackAt }: Scene,
  manner: Manner,
  count: number,
  reporterOf: (n: number) => Reporter,
  known: Attack["traffic"]["known"],
): Attack {
  const all = country.stations.map((_, index) => index);
  const order = shuffled(random, all);
  const taken = new Set<number>();
  const marks = Array.from({ length: count }, (_, n): SentMark => {
    const at = evenly(attackAt, manner.lasts, n, count);
    const isNext = (one: number): boolean => !taken.has(one) && hadFuel(truth, one, at);
    const station = order.find(isNext) ?? order[n % order.length]!;
    taken.add(station);
    const position = manner.positions ? atPumps(random, country.stations[station]!) : null;
    return { at, station, ...useless, reporter: reporterOf(n), position, honest: false };
  });
  const traffic = { marks, known };
  const selector = { key: widgetKeyId, status: "yes", ...during(traffic, attackAt) } as const;
  return { traffic, selectors: [selector] };
}
