import { hash } from "node:crypto";
import { demoCities } from "#demo/country/cities.ts";
import type { Random } from "#demo/country/random.ts";

export interface DemoReporter {
  /** SHA-256 in hexadecimal digits: what a real one's identity would look like in the database. */
  hash: string;
  /** ms. */
  firstSeen: number;
  city: number;
  /** First seen within 10 minutes of another, so not independent of it. */
  grouped: boolean;
}

const hourMs = 3600_000;
const dayMs = 24 * hourMs;
const perCity = 6;
const more = 260;
export const reporterCount = demoCities.length * perCity + more;

export const reporterHash = (name: string): string =>
  hash("sha256", `demo reporter ${name}`, "hex");

/**
 * Some hundred reporters: most known for days, some in groups that count as one device, some newcomers of today.
 * Each city has at least four that are independent of each other.
 */
export function makeReporters(random: Random, now: number): DemoReporter[] {
  const weights = demoCities.map(({ population }, index) => [index, population] as const);
  const homes = [
    ...demoCities.flatMap((_, index) => Array<number>(perCity).fill(index)),
    ...Array.from({ length: more }, () => random.weighted(weights)),
  ];
  let opener = 0;
  return homes.map((city, number) => {
    const inCity = number % perCity;
    const extra = number >= demoCities.length * perCity;
    const grouped = extra ? random.chance(0.25) : inCity === 4;
    const newcomer = extra ? random.chance(0.15) : inCity === 5;
    // An hour apart by construction, so that chance cannot make two of them one device.
    if (!grouped)
      opener = newcomer
        ? now - random.between(0.5, 20) * hourMs
        : now - 2 * dayMs - number * hourMs;
    const firstSeen = grouped ? opener + random.between(0.2, 9) * 60_000 : opener;
    return { hash: reporterHash(String(number)), firstSeen: Math.floor(firstSeen), city, grouped };
  });
}

/** True in a reporter's first 24 hours. */
export const isNewcomer = (firstSeen: number, at: number): boolean => at - firstSeen < dayMs;
