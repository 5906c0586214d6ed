import { minuteMs } from "#src/domain/units.ts";
import type { Log } from "#src/infrastructure/log.ts";

/** A station whose fold throws though none of its marks waits: the refold for a review or an import fails. */
export interface Unfoldable {
  stationId: string;
  error: unknown;
}

const logEveryMs = minuteMs;
const restMaxMs = 300_000;

/**
 * Remembers the stations that cannot be folded. The sweep tries each of them again after growing pauses, from
 * `firstRestMs` to 5 minutes, so that it has room for the others. A job about a station tries it at once. `now` in ms.
 */
export function createRetryBackoff(
  log: Pick<Log, "error">,
  now: () => number,
  firstRestMs: number,
) {
  const failed = new Map<string, { tries: number; nextAt: number; loggedAt: number }>();

  const remember = ({ stationId, error }: Unfoldable): void => {
    const { tries, loggedAt } = failed.get(stationId) ?? { tries: 0, loggedAt: -Infinity };
    const restMs = Math.min(firstRestMs * 2 ** tries, restMaxMs);
    const logs = now() - loggedAt >= logEveryMs;
    const next = { tries: tries + 1, nextAt: now() + restMs, loggedAt: logs ? now() : loggedAt };
    failed.set(stationId, next);
    if (!logs) return;
    log.error(
      { err: error, station: stationId, attempt: tries + 1, againInMs: restMs },
      "station could not be folded anew, will try again",
    );
  };

  return {
    /** Takes the result of a run over `stationIds`. Logs each unfoldable station, once a minute at most. */
    note(stationIds: readonly string[], unfoldable: readonly Unfoldable[]): void {
      const still = new Set(unfoldable.map(({ stationId }) => stationId));
      for (const stationId of stationIds) if (!still.has(stationId)) failed.delete(stationId);
      for (const one of unfoldable) remember(one);
    },
    /** Stations whose next try is still to come. */
    resting: (): string[] =>
      [...failed].flatMap(([stationId, { nextAt }]) => (now() < nextAt ? stationId : [])),
  };
}
