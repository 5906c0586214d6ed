import type { FactRows } from "#api/marks/intake-rows.ts";
import type { Admitted, IncomingMark } from "#src/domain/admit.ts";
import { dayMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";

type Past = NonNullable<FactRows["past"]>[number];

interface ReporterRow {
  id: number;
  firstSeen: number | null;
  marks: Past[];
}

/**
 * The tables that intake reads, in memory. `find` gives the rows that the statement of `api/marks/intake-rows.ts` would: what
 * follows from them for a mark is the product's own code. Only the conditions of that statement are said here again,
 * one line each; left out are external ids, which no traffic of this bench has.
 */
export function createMemory(
  config: Pick<
    Config,
    "nearbyFreshMs" | "speedMaxKmh" | "sharedNetworkMs" | "sharedNetworkDevices"
  >,
) {
  const reporters = new Map<string, ReporterRow>();
  const firstSeenById = new Map<number, number | null>();
  /** Times at which somebody new was seen, by scope. Ascending. */
  const newcomers = new Map<string, number[]>();
  const firstSeenByViewer = new Map<string, number[]>();
  /** By station: its fresh counted marks, in order of receipt. */
  const live = new Map<string, { id: number; reporterId: number; at: number }[]>();
  /** As in the statement: half the equator at the highest speed, and a day. */
  const reachMs = dayMs + (20_038 / config.speedMaxKmh) * 3_600_000;

  const met = (name: string, firstSeen: number | null): ReporterRow => {
    const row = { id: reporters.size + 1, firstSeen, marks: [] };
    reporters.set(name, row);
    firstSeenById.set(row.id, firstSeen);
    return row;
  };
  const since = (times: Map<string, number[]>, key: string, after: number): number[] => {
    const kept = times.get(key) ?? [];
    while (kept.length > 0 && kept[0]! <= after) kept.shift();
    return kept;
  };
  const newcomerRows = (partner: number, now: number): NonNullable<FactRows["partners"]> => {
    const seen = since(newcomers, String(partner), now - dayMs);
    return seen.length === 0 ? [] : [{ partner_id: partner, count: seen.length, freeAt: seen[0]! }];
  };
  const isShared = (viewer: string, now: number): boolean => {
    const devices = firstSeenByViewer.get(viewer) ?? [];
    return (
      devices.filter((at) => at < now - config.sharedNetworkMs).length >=
      config.sharedNetworkDevices
    );
  };
  const nearby = (stationId: string, now: number): NonNullable<FactRows["nearby"]> => {
    const marks = live.get(stationId) ?? [];
    // In order of receipt, and no mark of this bench is delivered late.
    while (marks.length > 0 && marks[0]!.at <= now - config.nearbyFreshMs) marks.shift();
    if (marks.length === 0) return [];
    let [first, last] = [marks[0]!.reporterId, marks[0]!.reporterId];
    for (const { reporterId } of marks) {
      first = Math.min(first, reporterId);
      last = Math.max(last, reporterId);
    }
    return [{ station_id: stationId, first, last }];
  };

  return {
    /** Someone whom the service knew before. */
    meet: (name: string, viewer: string | null, firstSeen: number): void => {
      met(name, firstSeen);
      if (viewer !== null) push(firstSeenByViewer, viewer, firstSeen);
    },
    firstSeen: (id: number): number => firstSeenById.get(id) ?? 0,
    find(mark: IncomingMark, now: number, sequence: number): FactRows {
      const row = reporters.get(mark.reporter);
      if (row !== undefined)
        row.marks = row.marks.filter((past) => past.received_at > now - reachMs);
      return {
        now,
        sequences: [sequence],
        reporters:
          row === undefined
            ? null
            : [{ hash: mark.reporter, id: row.id, first_seen: row.firstSeen }],
        named: null,
        past: row?.marks ?? null,
        partners: mark.partnerId === null ? null : newcomerRows(mark.partnerId, now),
        shared: mark.viewer !== null && isShared(mark.viewer, now) ? [mark.viewer] : null,
        blocked: null,
        nearby:
          mark.status === "no" && mark.confirmMin === 0
            ? mark.nearbyIds.flatMap((id) => nearby(id, now))
            : null,
      };
    },
    /** What `storeMarks` writes of an accepted mark. Answers the reporter's id. */
    store({ id, incomingMark: mark, effectiveAt, review }: Admitted, now: number): number {
      const row = reporters.get(mark.reporter) ?? met(mark.reporter, null);
      if (review === "expired") return row.id;
      if (row.firstSeen === null) {
        row.firstSeen = now;
        firstSeenById.set(row.id, now);
        if (mark.partnerId !== null) push(newcomers, String(mark.partnerId), now);
        if (mark.viewer !== null) push(firstSeenByViewer, mark.viewer, now);
      }
      row.marks.push({
        id,
        reporter_id: row.id,
        station_id: mark.stationId,
        status: mark.status,
        external_id: mark.externalId,
        received_at: now,
        effective_at: effectiveAt,
        lat: mark.lat,
        lon: mark.lon,
        taken_back: false,
      });
      if (review === "none")
        push(live, mark.stationId, { id, reporterId: row.id, at: effectiveAt });
      return row.id;
    },
    /** The worker holds a mark that was stored: from now on it makes no other mark wait. */
    hold(stationId: string, id: number): void {
      const marks = live.get(stationId) ?? [];
      live.set(
        stationId,
        marks.filter((mark) => mark.id !== id),
      );
    },
  };
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
