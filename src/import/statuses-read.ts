import type { Point } from "#src/domain/geo.ts";
import type { Grade, Status } from "#src/domain/vocabulary.ts";
import { count, type Reasons } from "#src/import/summary.ts";

export const statusFormats = ["csv", "fr-ruptures"] as const;
export type StatusFormat = (typeof statusFormats)[number];

/** What a file says about one station of its own. */
export interface SourceStatus {
  /** Ids that the station may have here, the surest first. */
  ids: readonly string[];
  /** Where it stands by the file, for finding it when no id fits. */
  point: Point | null;
  status: Status;
  fuelsNow: Grade[];
  fuelsNo: Grade[];
  /** The source's time, ms. */
  updated: number;
  /** Lines of the file that say so. */
  lines: number;
}

export interface StatusesRead {
  /** Lines: those of all `statuses` and the refused. */
  read: number;
  statuses: SourceStatus[];
  refused: number;
  reasons: Reasons;
}

/** Where and when a file is read from. */
export interface StatusFile {
  path: string;
  /** fr-ruptures: where the file's stations are, by their ids. */
  places: ReadonlyMap<string, Point | null>;
  /** Prefix of ids: a station `<source>-<its id>` is the file's. */
  source: string;
  /** The moment (ms) that ages are counted from. */
  now: number;
  /** fr-ruptures: a stock-out as old as this (ms) means that the station does not sell the fuel. */
  notSoldMs: number;
}

/** Leaves lines out, for a reason. */
export function refuseLines(into: StatusesRead, reason: string, lines = 1): void {
  into.refused += lines;
  for (let line = 0; line < lines; line += 1) count(into.reasons, reason);
}

/** Coordinates as a file writes them; null when they are missing or none. */
export function pointFrom(latText: string, lonText: string): Point | null {
  const [lat, lon] = [Number(latText), Number(lonText)];
  if (latText === "" || lonText === "" || (lat === 0 && lon === 0)) return null;
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
}
