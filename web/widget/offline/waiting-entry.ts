import { minuteMs } from "#src/domain/units.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import type { Refused } from "#web/widget/told.ts";

/** A mark from when it is said until it has arrived, in the browser's own database (decisions 15.21). */
export interface WaitingEntry {
  /** Random; the service takes a mark of this id once. */
  id: string;
  stationId: string;
  /** The station's name, for the viewer. */
  title: string;
  /** Null for what was said of the station itself. */
  status: Status | null;
  what: "report" | "confirm" | "suggest";
  /** The statement, without the fields that `sentOf` adds. */
  body: object;
  /** The API's address and key, for the service worker, which has no page. */
  api: string;
  key: string;
  /** Time of the mark by the service's clock, ms. */
  saidAt: number;
  /** The lead of the service's clock over this browser's by then, ms; absent where an earlier release has stored it. */
  aheadMs?: number;
  /** Only the page in which it was made may send it before this time, ms by this browser's clock. */
  notBefore: number;
  tries: number;
  /** The refusal of the mark; it stays until the viewer has seen it. */
  refused: Refused | null;
}

/** The path and the body of the request that sends a mark. */
export interface Sent {
  path: string;
  body: object;
}

const lateMs = minuteMs;

/**
 * A second try, or a late one, carries its time, and is a report also where a pending status was confirmed: that has
 * not to be pending any more, but what the driver saw stays.
 */
export function sentOf(entry: WaitingEntry, now: number): Sent {
  const { id, stationId, what, body, tries, saidAt } = entry;
  if (what === "suggest") return { path: "/suggestions/send", body };
  const isLate = tries > 1 || now - saidAt > lateMs;
  return {
    path: `/widget/stations/${encodeURIComponent(stationId)}/${isLate ? "report" : what}`,
    body: {
      ...body,
      external_id: id,
      ...(isLate ? { observed_at: new Date(saidAt).toISOString() } : {}),
    },
  };
}

/**
 * True if the device has said something newer of that station which also waits: sent after the older one it would be
 * refused as too early, and the older one would stay on the map.
 */
export const isOutdated = (
  { what, stationId, api, saidAt }: WaitingEntry,
  all: readonly WaitingEntry[],
  now: number,
): boolean =>
  what !== "suggest" &&
  all.some(
    (one) =>
      one.what !== "suggest" &&
      one.stationId === stationId &&
      one.api === api &&
      one.refused === null &&
      one.saidAt > saidAt &&
      one.notBefore <= now,
  );

/** False where the same mark may be taken later: the service is away or busy, or its key is just being changed. */
export const isFinal = ({ status, code }: Refused): boolean =>
  code === "reports-disabled" ||
  (status < 500 &&
    ![401, 403, 408].includes(status) &&
    !["rate-limit-exceeded", "daily-quota-exceeded"].includes(code) &&
    // An answer without a code comes from a proxy in between.
    code !== "");
