import type { Sentence } from "#src/contract/sentences.ts";
import { type Alarm, raiseAlarms } from "#src/alarms/raise.ts";
import { createIdBatcher } from "#src/infrastructure/batcher.ts";
import { formatTime } from "#src/domain/time.ts";
import { minuteMs, pauseMs } from "#src/domain/units.ts";
import { isBrokenOff, rows } from "#src/infrastructure/db.ts";
import type { Log } from "#src/infrastructure/log.ts";
import { createPolled } from "#src/infrastructure/polled.ts";
import { inTraces } from "#src/infrastructure/tracing.ts";
import { fromMs, recentIds } from "#src/marks/marks.ts";
import type { MarksJob } from "#src/infrastructure/queues.ts";
import { advanceGenerations } from "#src/feed/cache-generations.ts";
import { noteUnfoldable, type UnfoldableStation } from "#src/marks/unfoldable.ts";
import { createQueueWorker, type Role, type RoleDeps } from "#workers/role.ts";
import {
  createReviewCities,
  type FirstStatuses,
  tellFirstStatuses,
} from "#workers/marks/hold-harmful.ts";
import { type ProcessOptions, processStations, type Unfoldable } from "#workers/marks/process.ts";

const sweepStations = 200;
/** Jobs that one process holds, to coalesce them into few transactions. */
const jobsAtOnce = 16;

const messaging = {
  "messaging.system": "bullmq",
  "messaging.destination.name": "marks",
  "messaging.operation.type": "process",
};

/**
 * The marks role: jobs of the `marks` queue name the stations with new marks. Every `sweepMs` it also searches for
 * marks that nobody has processed, so that a lost job only costs time.
 */
export function createMarksRole(deps: RoleDeps): Role {
  const { db, config, log, clock, redis } = deps;
  let telling: Promise<void> = Promise.resolve();
  let rounds = 0;
  const reviewCities = createReviewCities();
  const backoff = createRetryBackoff(log, clock, config.sweepMs);

  /** If it fails, the next try of these stations raises the alarm again. */
  const alarm = async (unfoldable: readonly Unfoldable[]): Promise<void> => {
    const alarms = unfoldable.map(({ stationId }): Alarm => ({
      ...{ kind: "station-stuck", subject: { code: "station", station: stationId }, at: clock() },
    }));
    await raiseAlarms(db, alarms).catch((error: Error) =>
      log.debug({ err: error.message }, "alarm not raised"),
    );
  };

  /** No mark waits for it; if it fails, a later change of the source raises the alarm. */
  const tell = (firsts: readonly FirstStatuses[]): void => {
    telling = Promise.all([telling, tellFirstStatuses(db, firsts, clock())]).then(
      () => {},
      (error: Error) => log.debug({ err: error.message }, "alarm not raised"),
    );
  };

  const report = async ({ failing, healed }: ReturnType<typeof backoff.note>): Promise<void> => {
    await noteUnfoldable(redis, config.redisPrefix, failing, healed).catch((error: Error) =>
      log.debug({ err: error.message }, "unfoldable stations not told"),
    );
  };

  const run = async (stationIds: readonly string[], scope?: ProcessOptions): Promise<number> => {
    if (stationIds.length === 0) return 0;
    const startedAt = performance.now();
    const { processed, changed, unfoldable, firsts } = await processStations(
      { ...deps, reviewCities },
      stationIds,
      scope,
    );
    // One that was skipped is in another process's hands, and not healed by that.
    const noted = backoff.note(scope?.locking === "skip" ? [] : stationIds, unfoldable);
    await report(noted);
    // A busy machine or a frozen process may have one fold broken off; twice in a row it is the station.
    const isStuck = ({ error }: Unfoldable, n: number): boolean =>
      !isBrokenOff(error) || noted.failing[n]!.tries > 1;
    await alarm(unfoldable.filter(isStuck));
    if (firsts.length > 0) tell(firsts);
    // If this fails, or the process dies before it, the web processes do it before they report the outcome.
    if (changed !== null)
      await advanceGenerations(redis, config.redisPrefix, changed.places, changed.seq).catch(
        (error: Error) => log.debug({ err: error.message }, "cached rectangles not dropped"),
      );
    if (processed > 0)
      log.info(
        { processed, stations: stationIds.length, ms: Math.round(performance.now() - startedAt) },
        "marks processed",
      );
    return processed;
  };

  const coalesce = createIdBatcher((ids) => run(ids), config.marksConcurrency);
  const worker = createQueueWorker<MarksJob>(
    deps,
    "marks",
    ({ data: { stationIds, traces = [] } }) =>
      inTraces(deps.tracer ?? null, traces, "process marks", messaging, async () => {
        await coalesce(stationIds.filter((id) => !backoff.isFailing(id)));
      }),
    // With the defaults, recovery after kill -9 took over a minute, and a second stall failed the job for good.
    { concurrency: jobsAtOnce, lockDuration: 10_000, stalledInterval: 5_000, maxStalledCount: 100 },
    (error, job) =>
      log.error({ err: error.message, job: job?.id, attempt: job?.attemptsMade }, "job failed"),
  );

  const sweep = async (): Promise<void> => {
    const due = backoff.due().slice(0, sweepStations);
    // Once a minute it also reads the marks of old days.
    const reach = rounds++ % 30 === 0 ? { all: true as const } : {};
    const waiting = await findWaiting(backoff.failing(), reach);
    let processed = await run(waiting, { ...reach, locking: "skip" });
    // A station that failed may wait by old marks alone.
    const again = due.length > 0 ? await findWaiting([], { all: true }, due) : [];
    for (const stationId of again)
      processed += await run([stationId], { all: true, locking: "skip" });
    // Stations without waiting marks were done by another process.
    await report(
      backoff.note(
        due.filter((id) => !again.includes(id)),
        [],
      ),
    );
    const stations = waiting.length + again.length;
    if (stations > 0) log.info({ processed, stations }, "sweep found work");
  };
  /** Stations with unprocessed marks, and those to be folded anew: without some, or of some alone. */
  const findWaiting = async (
    without: readonly string[],
    { all }: { all?: true },
    of: readonly string[] | null = null,
  ): Promise<string[]> => {
    const found = await rows<{ station_id: string }>(
      db,
      `select station_id from (
         select distinct station_id from marks
         where processed_at is null and failed_at is null and received_at < ${fromMs}
           and ${all ? "true" : recentIds(clock())}
         union select station_id from station_status where refold
         union select case verdict when 'joined' then station_id else into_id end from station_pairs where moving) s
       where station_id <> all(?::text[]) and (?::text[] is null or station_id = any(?::text[])) limit ${sweepStations}`,
      [clock() - config.sweepMs, without, of, of],
    );
    return found.map((row) => row.station_id);
  };

  const sweeps = createPolled({
    ...{ everyMs: config.sweepMs, look: sweep },
    onError: (err) => log.warn({ err }, "sweep failed, will try again"),
  });

  return {
    start: async () => {
      worker.run();
      void sweeps.start();
    },
    stop: async () => {
      await sweeps.stop();
      await worker.close();
      await telling;
    },
  };
}

/** The reason why a station cannot be folded, without statements and values. */
function reasonOf(station: string, error: unknown, since: number): Sentence {
  const of = { station, time: formatTime(since) };
  return isBrokenOff(error)
    ? { code: "refold-broken-off", ...of, sqlstate: (error as { code: string }).code }
    : { code: "refold-failing", ...of, error: error instanceof Error ? error.name : typeof error };
}

interface Failed extends UnfoldableStation {
  tries: number;
  loggedAt: number;
}

const logEveryMs = minuteMs;
const restMaxMs = 300_000;

/**
 * Remembers the stations that cannot be folded. The sweep tries each of them on its own, after growing pauses from
 * `firstRestMs` to 5 minutes, so that it has time for the others. Jobs leave them to the sweep, so that no other
 * station waits for them. `now` in ms.
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
    const restMs = pauseMs(tries, firstRestMs, restMaxMs);
    const logs = now() - loggedAt >= logEveryMs;
    const next = {
      stationId,
      since,
      tries: tries + 1,
      nextAt: now() + restMs,
      reason: reasonOf(stationId, error, since),
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
     * Takes the result of a run over `stationIds`. Logs each unfoldable station, once a minute at most. Gives the
     * stations that failed, and those that can be folded again.
     */
    note(
      stationIds: readonly string[],
      unfoldable: readonly Unfoldable[],
    ): { failing: Failed[]; healed: string[] } {
      const still = new Set(unfoldable.map(({ stationId }) => stationId));
      const healed = stationIds.filter((id) => !still.has(id) && failed.delete(id));
      return { failing: unfoldable.map(remember), healed };
    },
    isFailing: (stationId: string): boolean => failed.has(stationId),
    failing: (): string[] => [...failed.keys()],
    /** Stations whose next try is due, the one that has waited longest first. */
    due: (): string[] =>
      [...failed.values()]
        .filter(({ nextAt }) => nextAt <= now())
        .sort((a, b) => a.nextAt - b.nextAt)
        .map(({ stationId }) => stationId),
  };
}
