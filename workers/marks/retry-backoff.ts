import { minuteMs } from "#src/domain/units.ts";
import type { Log } from "#src/infrastructure/log.ts";

/** A station whose fold throws though none of its marks waits: a review's or an import's refold that fails. */
export interface Stuck {
  stationId: string;
  error: unknown;
}

export interface StuckStations {
  /** Takes in what a run over `stationIds` left stuck, with a log line each, once a minute at most. */
  note(stationIds: readonly string[], stuck: readonly Stuck[]): void;
  /** Those whose next try is still to come. */
  resting(): string[];
}

const logEveryMs = minuteMs;
const restMaxMs = 300_000;

/**
 * Remembers stations that cannot be folded anew, so that the sweep tries each at growing distances, from `firstRestMs`
 * to 5 minutes, and leaves its rounds to those that it can help. A job about a station tries it at once. `now` in ms.
 */
export function createStuckStations(
  log: Pick<Log, "error">,
  now: () => number,
  firstRestMs: number,
): StuckStations {
  const known = new Map<string, { tries: number; nextAt: number; loggedAt: number }>();

  const remember = ({ stationId, error }: Stuck): void => {
    const { tries, loggedAt } = known.get(stationId) ?? { tries: 0, loggedAt: -Infinity };
    const restMs = Math.min(firstRestMs * 2 ** tries, restMaxMs);
    const isTold = now() - loggedAt < logEveryMs;
    known.set(stationId, {
      tries: tries + 1,
      nextAt: now() + restMs,
      loggedAt: isTold ? loggedAt : now(),
    });
    if (isTold) return;
    log.error(
      { err: error, station: stationId, attempt: tries + 1, againInMs: restMs },
      "station could not be folded anew, will try again",
    );
  };

  return {
    note: (stationIds, stuck) => {
      const still = new Set(stuck.map((one) => one.stationId));
      for (const stationId of stationIds) if (!still.has(stationId)) known.delete(stationId);
      for (const one of stuck) remember(one);
    },
    resting: () =>
      [...known].flatMap(([stationId, { nextAt }]) => (now() < nextAt ? stationId : [])),
  };
}
