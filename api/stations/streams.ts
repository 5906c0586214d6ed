import type { Readable } from "node:stream";
import { refused } from "#api/http/errors.ts";
import {
  createEventBody,
  type EventBody,
  eventOf,
  heartbeatOf,
  openingOf,
} from "#api/stations/event-body.ts";
import type { ReadModel } from "#snapshots/model/model.ts";
import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Log } from "#src/infrastructure/log.ts";
import type { KeyInfo, KeyStore } from "#src/keys/key-store.ts";

/** Why a stream has ended: its reader left, or was too slow; its key is not in force any more; the process stops. */
type Reason = "left" | "slow" | "key" | "stop";

interface Stream extends EventBody {
  key: KeyInfo;
  requestId: string;
  openedAt: number;
}

interface Wanted {
  key: KeyInfo;
  requestId: string;
  /** The end of the reader's copy, ms; null to begin with the next change. */
  sinceMs: number | null;
}

/** Stations of one event: making a longer one would hold up other requests. */
const eventStations = 500;
const fullRetryS = 15;
const stoppingRetryS = 1;

/**
 * The open streams of a web process (decisions 7.33 to 7.40). The model tells which stations have changed; an
 * event is made of them once, at most every `streamEveryMs`, and goes to all streams. No stream asks Postgres.
 */
export function createStreams(deps: {
  model: ReadModel;
  /** The cursor at this moment, ms, for all that the model has applied. */
  asOf: (now: number) => number;
  keys: KeyStore;
  config: Config;
  clock: Clock;
  log: Log;
}) {
  const { model, asOf, keys, config, clock, log } = deps;
  const { statusLifetimeMs: lifetimeMs } = config;
  const open = new Set<Stream>();
  const ended: Record<Reason, number> = { left: 0, slow: 0, key: 0, stop: 0 };
  /** Stations that have changed since `batch` was taken. */
  const changed = new Set<number>();
  /** Changed stations to send. After them everything before `batchAsOfMs` is sent. */
  let batch: number[] = [];
  let batchAsOfMs = 0;
  let sentAsOfMs = 0;
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let beats: NodeJS.Timeout | undefined;
  let isStopped = false;

  const finish = (stream: Stream, reason: Reason): void => {
    if (!open.delete(stream)) return;
    if (open.size === 0) rest();
    ended[reason] += 1;
    const { key, requestId, openedAt } = stream;
    const ms = Math.round(performance.now() - openedAt);
    log.info(
      { request_id: requestId, partner: key.partnerId, key: key.id, ms, reason },
      "stream over",
    );
    if (reason === "slow") stream.body.destroy();
    else stream.end();
  };

  const send = (event: Buffer): void => {
    for (const stream of open) if (!stream.offer(event)) finish(stream, "slow");
  };

  const flush = (): void => {
    const now = clock();
    // The model may tell of changes here, which then belong to this event.
    model.drain(now);
    timer = undefined;
    sentAt = performance.now();
    if (batch.length === 0) {
      batch = [...changed];
      batchAsOfMs = asOf(now);
      changed.clear();
    }
    const some = batch.splice(0, eventStations);
    if (batch.length === 0) sentAsOfMs = batchAsOfMs;
    if (some.length > 0) send(eventOf(model.changesOf(some, now), sentAsOfMs, lifetimeMs));
    if (batch.length + changed.size > 0) schedule();
  };

  const schedule = (): void => {
    if (open.size === 0) return;
    const waitMs = sentAt + config.streamEveryMs - performance.now();
    timer ??= setTimeout(flush, Math.max(0, waitMs));
  };

  const beat = (): void => {
    const now = clock();
    model.drain(now);
    if (batch.length + changed.size === 0) sentAsOfMs = asOf(now);
    send(heartbeatOf(sentAsOfMs));
  };

  /** Stops collecting changes while there are no streams. */
  const rest = (): void => {
    clearInterval(beats);
    clearTimeout(timer);
    timer = undefined;
    batch = [];
    changed.clear();
  };

  /**
   * Changes from `sinceMs` to `now`, made part by part while the reader takes them. A reader that was cut may resume
   * from each part's cursor, because the changes come in the order of their times.
   */
  const catchUp = (sinceMs: number, now: number): Iterator<Buffer> => {
    const stations = Uint32Array.from(model.changedSince(sinceMs, now));
    const asOfMs = asOf(now);
    const cursors: number[] = [];
    for (let end = eventStations; end < stations.length; end += eventStations) {
      const changedAt = model.changedAt(stations[end - 1] as number);
      cursors.push(Math.min(asOfMs, Math.floor(changedAt / 1000) * 1000));
    }
    cursors.push(asOfMs);
    return (function* parts() {
      yield openingOf(Math.round(config.streamRetryMs * (0.5 + Math.random())));
      if (stations.length === 0) yield heartbeatOf(asOfMs);
      else
        for (const [part, cursorMs] of cursors.entries()) {
          const some = stations.subarray(part * eventStations, (part + 1) * eventStations);
          yield eventOf(model.changesOf(some, clock()), cursorMs, lifetimeMs);
        }
    })();
  };

  const refuseFull = (keyId: number): void => {
    if (isStopped)
      throw refused("upstream-unavailable", "This process stops. Open the stream again.", {
        retryAfterS: stoppingRetryS,
      });
    const { streamsPerKey: limit, streamsMax } = config;
    const own = [...open].filter(({ key }) => key.id === keyId).length;
    if (own >= limit)
      throw refused(
        "too-many-streams",
        `This key holds ${limit} streams open here, as many as one may. Close one, or ask /stations/delta.`,
        { retryAfterS: fullRetryS, limit, window: "0s" },
      );
    if (open.size >= streamsMax)
      throw refused(
        "upstream-unavailable",
        "No further stream can be opened here now. Ask /stations/delta, and try again later.",
        { retryAfterS: fullRetryS },
      );
  };

  model.watch((stations) => {
    if (open.size === 0) return;
    for (const station of stations) changed.add(station);
    schedule();
  });
  keys.watch(() => {
    for (const stream of open)
      if (!isAllowed(stream.key, keys.current(stream.key.id))) finish(stream, "key");
  });

  return {
    /** The body of a new stream. Throws the refusal when this key, or this process, holds too many. */
    open({ key, requestId, sinceMs }: Wanted): Readable {
      refuseFull(key.id);
      const now = clock();
      // All this is in one turn: later changes come by `changed`.
      const parts = catchUp(sinceMs ?? asOf(now), now);
      if (open.size === 0) {
        sentAsOfMs = asOf(now);
        beats = setInterval(beat, config.streamHeartbeatMs);
      }
      const events = createEventBody(parts, config.streamBacklogBytes);
      const stream = { ...events, key, requestId, openedAt: performance.now() };
      open.add(stream);
      stream.body.once("close", () => finish(stream, "left"));
      return stream.body;
    },
    /** The number of open streams, and of ended ones for each reason. */
    figures: () => ({ open: open.size, ended: { ...ended } }),
    /** Ends all streams in order; further ones are refused. */
    stop(): void {
      isStopped = true;
      for (const stream of open) finish(stream, "stop");
    },
  };
}

/** True while a request's checks would find the same; otherwise the reader has to pass them again. */
const isAllowed = (before: KeyInfo, now: KeyInfo | null): boolean =>
  now !== null && now.partner.enabled && boundsOf(now) === boundsOf(before);
const boundsOf = ({ ips, partner }: KeyInfo): string => JSON.stringify([partner.bindIps, ips]);
