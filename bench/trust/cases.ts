import { minuteMs } from "#src/domain/units.ts";
import { type Attack, overADay, type Scene } from "#bench/trust/attackers/attack.ts";
import { detailBots, loneDevice } from "#bench/trust/attackers/details.ts";
import { type Fifth, fifthFalse } from "#bench/trust/attackers/fifth.ts";
import { belowLimit, dayZero, keyArmy } from "#bench/trust/attackers/key-army.ts";
import { cityAttack, junkDevices } from "#bench/trust/attackers/networks.ts";
import type { HonestKind } from "#bench/trust/world.ts";

/** A row of the table: honest traffic, and somebody against it. */
export interface Case {
  name: string;
  honest: HonestKind;
  attack: ((scene: Scene) => Attack) | null;
}

const seconds = 1000;
const at = { positions: true };
const remote = { positions: false };
const burst7s = { lasts: 7 * seconds };
const drip = { lasts: overADay };
const city = { lasts: 11.5 * minuteMs };
const oneKey = [1];
const fourKeys = [1, 2, 3, 4];

const usual = (name: string, attack: Case["attack"]): Case => ({ name, honest: "usual", attack });
const fifth = (name: string, what: Fifth): Case => usual(name, (scene) => fifthFalse(scene, what));

/** The attacks that the goals name, each with honest traffic on the same keys, networks and cities at the same time. */
export const cases: readonly Case[] = [
  usual("honest", null),
  { name: "honest, errors say fuel only", honest: "mistaken yes only", attack: null },
  { name: "honest, a sudden shortage in a city", honest: "sudden shortage", attack: null },
  { name: "launch on the map: all new", honest: "launch on the map", attack: null },
  { name: "launch through one key, not prepared: all new", honest: "launch", attack: null },
  { name: "launch through one key: all new", honest: "prepared launch", attack: null },
  {
    name: "launch through one key, attacked by 500 users of it",
    honest: "prepared launch",
    attack: (scene) => keyArmy(scene, { ...at, ...burst7s }, 500, oneKey),
  },
  ...[at, remote].flatMap(({ positions }) => {
    const where = positions ? "at the stations" : "no positions";
    return [
      fifth(`20 % false \`no\`, newcomers, ${where}`, { status: "no", old: false, positions }),
      fifth(`20 % false \`no\`, old accounts, ${where}`, { status: "no", old: true, positions }),
      fifth(`20 % false \`yes\`, newcomers, ${where}`, { status: "yes", old: false, positions }),
      fifth(`20 % false \`yes\`, old accounts, ${where}`, { status: "yes", old: true, positions }),
    ];
  }),
  usual("one key, 500 users of day 0: 7 s, at the stations", (scene) =>
    keyArmy(scene, { ...at, ...burst7s }, 500, oneKey),
  ),
  usual("one key, 500 users of day 0: 7 s, no positions", (scene) =>
    keyArmy(scene, { ...remote, ...burst7s }, 500, oneKey),
  ),
  usual("one key, 500 users of day 0: over 24 h, at the stations", (scene) =>
    keyArmy(scene, { ...at, ...drip }, 500, oneKey),
  ),
  usual("one key, 500 users of day 0: over 24 h, no positions", (scene) =>
    keyArmy(scene, { ...remote, ...drip }, 500, oneKey),
  ),
  usual("four keys, 500 users of day 0: over 24 h, at the stations", (scene) =>
    keyArmy(scene, { ...at, ...drip }, 500, fourKeys),
  ),
  usual("one key, 19 `no` an hour by new users: over 24 h, at the stations", (scene) =>
    belowLimit(scene, oneKey, 24),
  ),
  usual("four keys, 19 `no` an hour by new users: over 24 h, at the stations", (scene) =>
    belowLimit(scene, fourKeys, 24),
  ),
  usual("26 networks, a city: 11.5 min, no positions", (scene) =>
    cityAttack(scene, { ...remote, ...city }, 26),
  ),
  usual("26 networks, a city: 11.5 min, at the stations", (scene) =>
    cityAttack(scene, { ...at, ...city }, 26),
  ),
  usual("26 networks, a city: over 24 h, no positions", (scene) =>
    cityAttack(scene, { ...remote, ...drip }, 26),
  ),
  usual("26 networks, a city: over 24 h, at the stations", (scene) =>
    cityAttack(scene, { ...at, ...drip }, 26),
  ),
  usual("104 networks, a city: over 24 h, at the stations", (scene) =>
    cityAttack(scene, { ...at, ...drip }, 104),
  ),
  usual("one address, 24 stations useless: 0.3 s, no positions", (scene) =>
    detailBots(scene, { ...remote, lasts: 0.3 * seconds }, 24),
  ),
  usual("one address, 24 stations useless: 0.3 s, at the stations", (scene) =>
    detailBots(scene, { ...at, lasts: 0.3 * seconds }, 24),
  ),
  usual("a lone old device, 50 stations useless: over 24 h, no positions", (scene) =>
    loneDevice(scene, { ...remote, ...drip }, 50),
  ),
  usual("one key on its day 0, 500 `yes`: 1 s, at the stations", (scene) =>
    dayZero(scene, { ...at, lasts: seconds }, 500),
  ),
  usual("one key on its day 0, 500 `yes`: 1 s, no positions", (scene) =>
    dayZero(scene, { ...remote, lasts: seconds }, 500),
  ),
  usual("one key on its day 0, 500 `yes`: over 24 h, at the stations", (scene) =>
    dayZero(scene, { ...at, ...drip }, 500),
  ),
  usual("20 junk devices on each of 10 carriers: 2 s, no positions", (scene) =>
    junkDevices(scene, 10),
  ),
];
