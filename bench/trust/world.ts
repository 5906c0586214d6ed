import { createRandom, type Random } from "#demo/country/random.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import type { Scene } from "#bench/trust/attackers/attack.ts";
import type { Channel } from "#bench/trust/crowd.ts";
import { makeCountry } from "#bench/trust/country.ts";
import { honestTraffic, type Telling, usualTelling } from "#bench/trust/honest.ts";
import type { Traffic } from "#bench/trust/traffic.ts";
import { makeTruth, type Pace } from "#bench/trust/truth.ts";

export type HonestKind =
  | "usual"
  | "mistaken yes only"
  | "sudden shortage"
  | "launch"
  | "prepared launch"
  | "launch on the map"
  | keyof typeof tellings
  | keyof typeof paces;

/** Traffic unlike what the model of a chance takes as usual. */
const tellings = {
  "few reports": { reporters: [0, 1], furtherPerHour: 0.05, errorShare: 0.04 },
  "many reports": { reporters: [2, 6], furtherPerHour: 0.6, errorShare: 0.04 },
  careless: { reporters: [1, 3], furtherPerHour: 0.15, errorShare: 0.12 },
  "silent after changes": { reporters: [0, 0], furtherPerHour: 0.3, errorShare: 0.04 },
} as const satisfies Record<string, Telling>;

/** Stations that change otherwise than the model takes as usual. */
const paces = {
  "twice the refills, fuel for half as long": { refills: 2, fuelLasts: 0.5 },
  "twice the refills, fuel for twice as long": { refills: 2, fuelLasts: 2 },
} as const satisfies Record<string, Pace>;

const paceOf = (kind: HonestKind): Pace | undefined =>
  Object.hasOwn(paces, kind) ? paces[kind as keyof typeof paces] : undefined;

const tellingOf = (kind: HonestKind): Telling =>
  Object.hasOwn(tellings, kind) ? tellings[kind as keyof typeof tellings] : usualTelling;

/** How large and how long a simulation is. */
export interface Size {
  stations: number;
  /** Measured hours, after a day in which people and statuses come to be known. */
  hours: number;
}

/** A country with its truth and its honest people, and the moment at which an attacker may come. */
export interface World {
  scene: Omit<Scene, "random">;
  honest: Traffic;
  /** For the attacker: its numbers change nothing of the world's. */
  attackRandom(): Random;
  /** For whoever looks at the world. */
  lookRandom(): Random;
}

const channelOf = (kind: HonestKind): Channel => {
  if (kind === "launch on the map") return "widget";
  return kind === "launch" || kind === "prepared launch" ? "launch" : "mixed";
};

/** Midnight UTC of a Wednesday. */
const start = Date.parse("2026-01-14T00:00:00Z");

/** A world by its seed; each part has random numbers of its own, so that a change in one leaves the others as they are. */
export function makeWorld(seed: number, kind: HonestKind, { stations, hours }: Size): World {
  const part = (n: number): Random => createRandom(seed * 7919 + n);
  const from = start + dayMs;
  const until = from + hours * hourMs;
  const attackAt = from + 10 * hourMs;
  const country = makeCountry(part(1), stations);
  const sudden =
    kind === "sudden shortage" ? { at: attackAt, stations: new Set(country.cities[0]) } : null;
  const truth = makeTruth(part(2), stations, start, until, sudden, paceOf(kind));
  const channel = channelOf(kind);
  const honest = honestTraffic(part(3), country, truth, {
    // A launch finds nobody and nothing known.
    from: channel === "mixed" ? start : from,
    until,
    channel,
    telling: tellingOf(kind),
    mistakenYesOnly: kind === "mistaken yes only",
  });
  const honestMarks = honest.marks.filter(({ at }) => at >= from).length;
  return {
    scene: { country, truth, from, until, attackAt, honestMarks },
    honest,
    attackRandom: () => part(4),
    lookRandom: () => part(5),
  };
}
