import type { Point } from "#src/domain/geo.ts";
import type { Grade, Status } from "#src/domain/vocabulary.ts";
import type { Reasons } from "#src/import/file-import.ts";

export const statusFormats = ["csv", "fr-ruptures"] as const;
export type StatusFormat = (typeof statusFormats)[number];

/** The status that a file reports for one of its stations. */
export interface SourceStatus {
  /** Ids that the station may have here, the most certain first. */
  ids: readonly string[];
  /** Its location in the file, to find it when no id matches. */
  point: Point | null;
  status: Status;
  fuelsNow: Grade[];
  fuelsNo: Grade[];
  /** The source's time, ms. */
  updated: number;
  /** Lines of the file with this status. */
  lines: number;
}

export interface StatusesRead {
  /** Lines: those of all `statuses` and the refused. */
  read: number;
  statuses: SourceStatus[];
  refused: number;
  reasons: Reasons;
}

/** A file and how it is read. */
export interface StatusFile {
  path: string;
  /** fr-ruptures: where the file's stations are, by their ids. */
  locations: ReadonlyMap<string, Point | null>;
  /** Prefix of ids: a station `<source>-<its id>` is the file's. */
  source: string;
  /** The moment (ms) that ages are counted from. */
  now: number;
  /** fr-ruptures: a stock-out as old as this (ms) means that the station does not sell the fuel. */
  notSoldMs: number;
}

/** Coordinates as a file writes them; null when they are missing or invalid. */
export function pointFrom(latText: string, lonText: string): Point | null {
  const [lat, lon] = [Number(latText), Number(lonText)];
  if (latText === "" || lonText === "" || (lat === 0 && lon === 0)) return null;
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
}
