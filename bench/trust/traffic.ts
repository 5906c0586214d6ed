import type { Random } from "#demo/country/random.ts";
import type { Point } from "#src/domain/geo.ts";
import type { Statement } from "#src/domain/state.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { around, type Station } from "#bench/trust/country.ts";

/** A person or a device: what the service can know of it, whoever is behind it. */
export interface Reporter {
  /** Stands for the hash of a user or a device. */
  name: string;
  /** Whose user it is; null for a device of the widget. */
  partnerId: number | null;
  keyId: number;
  /** The viewer's network; null for a partner's user. */
  viewer: string | null;
}

/** A mark on its way to the service at `at`, ms, which is also when it was seen. */
export interface SentMark extends Statement {
  at: number;
  station: number;
  status: Status;
  reporter: Reporter;
  /** Where the phone was or claims to have been; null without a position. */
  position: (Point & { accM: number }) | null;
  honest: boolean;
}

/** Somebody whom the service knew before the simulation began. */
export interface Acquaintance {
  reporter: Reporter;
  /** ms */
  firstSeen: number;
}

/** What someone sends, and who of them was known before. */
export interface Traffic {
  marks: SentMark[];
  known: Acquaintance[];
}

/** Partners with one secret key each; partner and key have the same id. */
export const partnerIds = [1, 2, 3, 4] as const;
/** The key of all maps on pages. */
export const widgetKeyId = 9;

export const partnersUser = (partnerId: number, name: string): Reporter => ({
  name,
  partnerId,
  keyId: partnerId,
  viewer: null,
});

export const device = (viewer: string, name: string): Reporter => ({
  name,
  partnerId: null,
  keyId: widgetKeyId,
  viewer,
});

/** Mobile networks, each behind one address that many honest devices share. */
export const carriers = Array.from({ length: 60 }, (_, n) => `carrier-${n}`);

/** A position at the station's pumps: as true phones send it, and as a forger claims it. */
export const atPumps = (random: Random, station: Station): Point & { accM: number } => ({
  ...around(random, station, 120),
  accM: random.int(5, 60),
});

/** Several people's traffic in order of time. */
export const together = (...all: readonly Traffic[]): Traffic => ({
  marks: all.flatMap(({ marks }) => marks).sort((a, b) => a.at - b.at),
  known: all.flatMap(({ known }) => known),
});
