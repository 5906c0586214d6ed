import { distanceM, type Point } from "#src/domain/geo.ts";
import type { Rule, Status } from "#src/domain/vocabulary.ts";
import { hourMs } from "#src/domain/units.ts";

/** The numbers of decisions 1 that decide whether a mark is geolocated. */
export interface JudgeRules {
  nearM: number;
  accuracyCapM: number;
  accuracyMaxM: number;
  speedMaxKmh: number;
  speedFreeM: number;
}

export interface Located extends Point {
  /** Effective time, ms. */
  at: number;
}

/** Possible movement (decisions 1): not over `speedMaxKmh` over more than `speedFreeM`. */
export function isPossibleMovement(from: Located, to: Located, rules: JudgeRules): boolean {
  const metres = distanceM(from, to);
  if (metres <= rules.speedFreeM) return true;
  const hours = Math.abs(to.at - from.at) / hourMs;
  return metres / 1000 <= rules.speedMaxKmh * hours;
}

/**
 * True for a mark that is not geolocated (decisions 1): no coordinates, a bad accuracy, too far from the
 * station, or a movement that is not possible since `previous`, the reporter's previous located mark.
 */
export function isRemote(
  mark: { lat: number | null; lon: number | null; accM: number | null; at: number },
  station: Point,
  previous: Located | null,
  rules: JudgeRules,
): boolean {
  if (mark.lat === null || mark.lon === null) return true;
  if (mark.accM !== null && mark.accM > rules.accuracyMaxM) return true;
  const here = { lat: mark.lat, lon: mark.lon, at: mark.at };
  const reach = rules.nearM + Math.min(mark.accM ?? 0, rules.accuracyCapM);
  if (distanceM(here, station) > reach) return true;
  return previous !== null && !isPossibleMovement(previous, here, rules);
}

/** The first row of the table of decisions 2 that applies: devices that a mark's version needs, and why. */
export function neededFor(mark: {
  status: Status;
  remote: boolean;
  confirmMin: number;
  othersNearby: boolean;
}): {
  needed: number;
  rule: Rule;
} {
  if (mark.confirmMin > 0) return { needed: mark.confirmMin, rule: "key-threshold" };
  if (mark.remote) return { needed: 2, rule: "remote" };
  if (mark.status === "no" && mark.othersNearby) return { needed: 2, rule: "no-nearby-marks" };
  return { needed: 1, rule: "geolocated" };
}
