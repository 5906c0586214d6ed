import type { ServiceState } from "#api/pages/status/watch.ts";
import { formatDay, formatTime } from "#src/domain/time.ts";

/** The body of `/status.json`. Times are UTC in the served form; `days` begin with the oldest. */
export const statusJson = (state: ServiceState): object => ({
  as_of: formatTime(state.now),
  state: state.state,
  reachable: { postgres: state.postgres, redis: state.redis },
  feeds: state.feeds,
  /** Time of the last reading of days and incidents. */
  known_at: timeOf(state.readAt),
  days: state.days.map(({ at, feeds }) => ({
    day: formatDay(at),
    minutes: feeds,
  })),
  incidents: state.incidents.map(({ opened, closed, updates, ...incident }) => ({
    ...incident,
    opened: formatTime(opened),
    closed: timeOf(closed),
    updates: updates.map(({ at, text }) => ({ at: formatTime(at), text })),
  })),
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : formatTime(ms));
