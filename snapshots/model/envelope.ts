import { formatTime, staleAfterHours } from "#src/domain/time.ts";

/** What stands beside the stations in the list envelope of partner-api.md 2.3. */
export interface ListRest {
  count: number;
  asOfMs: number;
  /** Life of a status, ms. */
  lifetimeMs: number;
  truncated: boolean;
  nextCursor?: string;
  /** `/stations/delta` only: ids of stations taken out of service. */
  removed?: readonly string[];
}

export const listHead = Buffer.from('{"stations":[');

/** The list envelope from after the last station on. */
export function listTail(rest: ListRest): Buffer {
  const fields = JSON.stringify({
    count: rest.count,
    as_of: formatTime(rest.asOfMs),
    stale_after_hours: staleAfterHours(rest.lifetimeMs),
    truncated: rest.truncated,
    next_cursor: rest.nextCursor,
    removed: rest.removed,
  });
  return Buffer.from(`],${fields.slice(1)}`);
}
