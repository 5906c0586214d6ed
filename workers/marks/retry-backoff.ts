import { minuteMs } from "#src/domain/units.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { reasonOf, type UnfoldableStation } from "#src/marks/unfoldable.ts";

/**
 * A station that cannot be folded, and no mark is to blame: the refold for a review or an import throws, or Postgres
 * breaks its transaction off.
 */
export interface Unfoldable {
  stationId: string;
  error: unknown;
}

interface Failed extends UnfoldableStation {
  tries: number;
  loggedAt: number;
}

const logEveryMs = minuteMs;
const restMaxMs = 300_000;

/**
 * Remembers the stations that cannot be folded. The sweep tries each of them alone, after growing pauses from
 * `firstRestMs` to 5 minutes, so that it has room for the others. Jobs leave them to the sweep, so that no other station
 * waits behind one. `now` in ms.
 */
export function createRetryBackoff(
  log: Pick<Log, "error">,
  now: () => number,
  firstRestMs: number,
) {
  const failed = new Map<string, Failed>();

  const remember = ({ stationId, error }: Unfoldable): Failed => {
    const before = failed.get(stationId);
    const { tries = 0, loggedAt = -Infinity, since = now() } = before ?? {};
    const restMs = Math.min(firstRestMs * 2 ** tries, restMaxMs);
    const logs = now() - loggedAt >= logEveryMs;
    const next = {
      stationId,
      since,
      tries: tries + 1,
      nextAt: now() + restMs,
      reason: reasonOf(error),
      loggedAt: logs ? now() : loggedAt,
    };
    failed.set(stationId, next);
    if (logs)
      log.error(
        { err: error, station: stationId, attempt: tries + 1, againInMs: restMs },
        "station could not be folded anew, will try again",
      );
    return next;
  };

  return {
    /**
     * Takes the result of a run over `stationIds`. Logs each unfoldable station, once a minute at most. Gives what has
     * changed: those that failed, and those that can be folded again.
     */
    note(
      stationIds: readonly string[],
      unfoldable: readonly Unfoldable[],
    ): { failing: UnfoldableStation[]; healed: string[] } {
      const still = new Set(unfoldable.map(({ stationId }) => stationId));
      const healed = stationIds.filter((id) => !still.has(id) && failed.delete(id));
      return { failing: unfoldable.map(remember), healed };
    },
    isFailing: (stationId: string): boolean => failed.has(stationId),
    /** Stations whose next try is still to come. */
    resting: (): string[] =>
      [...failed].flatMap(([stationId, { nextAt }]) => (now() < nextAt ? stationId : [])),
    /** Stations that are to be tried now. */
    due: (): string[] =>
      [...failed].flatMap(([stationId, { nextAt }]) => (now() < nextAt ? [] : stationId)),
  };
}
