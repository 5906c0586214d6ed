import { minuteMs } from "#src/domain/units.ts";
import {
  type Attack,
  during,
  evenly,
  type Manner,
  type Scene,
  shuffled,
} from "#bench/trust/attackers/attack.ts";
import { atPumps, carriers, device, type SentMark, widgetKeyId } from "#bench/trust/traffic.ts";
import { hadFuel } from "#bench/trust/truth.ts";

/** Carriers' addresses first, which honest people share, then some of the attacker's own. */
const networkNames = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => carriers[n] ?? `bots-${n}`);

/** Devices first seen within ten minutes are one: the second mark of a station comes after that. */
const apartMs = 10.5 * minuteMs;

/**
 * A city's stations turned to `no` from the public map: two marks a station, each from a device of its own, spread over
 * networks so that each stays below 20 new devices a day and 20 `no` marks an hour.
 */
export function cityAttack(scene: Scene, manner: Manner, networks: number, city = 0): Attack {
  const { random, country, attackAt } = scene;
  const names = networkNames(networks);
  const stations = shuffled(random, country.cities[city]!);
  const spread = Math.max(minuteMs, manner.lasts - apartMs);
  const marks = [0, 1].flatMap((wave) =>
    stations.map((station, n): SentMark => {
      const number = wave * stations.length + n;
      return {
        at: evenly(attackAt + wave * apartMs, spread, n, stations.length),
        station,
        status: "no",
        reporter: device(names[number % names.length]!, `city-bot-${number}`),
        position: manner.positions ? atPumps(random, country.stations[station]!) : null,
        honest: false,
      };
    }),
  );
  const traffic = { marks: marks.sort((a, b) => a.at - b.at), known: [] };
  const selector = { key: widgetKeyId, status: "no", ...during(traffic, attackAt) } as const;
  return { traffic, selectors: [selector] };
}

/** Twenty new devices on each of these carriers, with true marks: the next honest newcomer there is refused. */
export function junkDevices(scene: Scene, networks: number): Attack {
  const { random, country, truth, attackAt } = scene;
  const perNetwork = 20;
  const marks = networkNames(networks).flatMap((viewer, network) =>
    Array.from({ length: perNetwork }, (_, n): SentMark => {
      const station = random.int(0, country.stations.length - 1);
      const at = attackAt + n * 100 + network;
      return {
        at,
        station,
        status: hadFuel(truth, station, at) ? "yes" : "no",
        reporter: device(viewer, `junk-${network}-${n}`),
        position: null,
        honest: false,
      };
    }),
  );
  const traffic = { marks: marks.sort((a, b) => a.at - b.at), known: [] };
  return { traffic, selectors: [{ key: widgetKeyId, ...during(traffic, attackAt) }] };
}
