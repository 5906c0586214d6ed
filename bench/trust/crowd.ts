import type { Random } from "#demo/country/random.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import type { Country } from "#bench/trust/country.ts";
import {
  type Acquaintance,
  carriers,
  device,
  partnerIds,
  partnersUser,
  type Reporter,
} from "#bench/trust/traffic.ts";

/**
 * How people reach the service: six in ten by the map; or nobody is known before, and all come by the map or all by one
 * partner's new app.
 */
export type Channel = "mixed" | "widget" | "launch";

const widgetShare = 0.6;
const carrierShare = 0.3;
/** At a launch they are as new as everyone, and fewer. */
const regularsPerCity = { mixed: 2000, widget: 700, launch: 700 } as const;
/** Nobody reports from two stations within this time, so that every honest movement is possible. */
const restMs = 45 * minuteMs;
/** Newcomers who report again on their first day. */
const returnShare = 0.15;

interface Person {
  reporter: Reporter;
  city: number;
  lastAt: number;
}

/** The honest people of all cities. Regulars were first seen 2 to 60 days before `from`, ms. */
export function createCrowd(random: Random, country: Country, channel: Channel, from: number) {
  let people = 0;
  const person = (city: number): Person => {
    const name = `person-${(people += 1)}`;
    return { reporter: reach(random, channel, name), city, lastAt: Number.NEGATIVE_INFINITY };
  };
  const regulars = country.cities.map((_, city) =>
    Array.from({ length: regularsPerCity[channel] }, () => person(city)),
  );
  const met: Acquaintance[] = (channel === "mixed" ? regulars.flat() : []).map(({ reporter }) => ({
    reporter,
    firstSeen: Math.floor(from - random.between(2, 60) * dayMs),
  }));
  const fresh = country.cities.map((): Person[] => []);

  const newcomer = (city: number, at: number): Person => {
    const today = fresh[city]!.filter(({ lastAt }) => at - lastAt < dayMs / 2);
    fresh[city] = today;
    const rested = today.filter(({ lastAt }) => at - lastAt > restMs);
    if (rested.length > 0 && random.chance(returnShare)) return random.pick(rested);
    const made = person(city);
    today.push(made);
    return made;
  };
  const regular = (city: number, at: number): Person => {
    for (let tries = 0; tries < 50; tries += 1) {
      const one = random.pick(regulars[city]!);
      if (at - one.lastAt > restMs) return one;
    }
    throw new Error("too few regulars for this traffic");
  };

  return {
    /** Who reports from a city at `at`, ms. Asked in order of time. */
    someone(city: number, at: number, isNew: boolean): Reporter {
      const one = isNew ? newcomer(city, at) : regular(city, at);
      one.lastAt = at;
      return one.reporter;
    },
    known: (): Acquaintance[] => met,
  };
}

function reach(random: Random, channel: Channel, name: string): Reporter {
  const byWidget = random.chance(widgetShare);
  const partnerId = random.pick(partnerIds);
  const viewer = random.chance(carrierShare) ? random.pick(carriers) : `home-${name}`;
  if (channel === "launch") return partnersUser(partnerIds[0], name);
  return byWidget || channel === "widget" ? device(viewer, name) : partnersUser(partnerId, name);
}
