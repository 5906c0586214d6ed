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
import { createBatcher } from "#src/infrastructure/batcher.ts";
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
  sinceMs: number;
  /** True once it has all before now, and only follows the changes. */
  isLive: boolean;
  /** When its reader took an event of what it had missed; 0 before its turn, Infinity after it. */
  takenAt: number;
  leave: () => void;
}

interface Wanted {
  key: KeyInfo;
  requestId: string;
  /** The end of the reader's copy, ms; null to begin with the next change. */
  sinceMs: number | null;
}

/** Stations of one event: making a longer one would hold up other requests. */
const eventStations = 500;
/** Streams that are sent what they have missed at the same time; further ones wait for their turn. */
const catchingMost = 32;
/** Events of what was missed that are kept for further readers; one has about 200 kB. */
const eventsKept = 128;
const fullRetryS = 15;
const stoppingRetryS = 1;

/** What has changed since a cursor, oldest change first; from the `cursors`, the ends of events, readers may resume. */
interface Missed {
  stations: Uint32Array;
  cursors: number[];
  version: number;
}

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
  /** By the cursor that they begin at. */
  const lists = new Map<number, Missed>();
  const events = new Map<string, Buffer>();
  /** Changes of the model so far. */
  let version = 0;
  const ended: Record<Reason, number> = { left: 0, slow: 0, key: 0, stop: 0 };
  /** Changed stations to send. When there are none, everything before `sentAsOfMs` is sent. */
  const changed = new Set<number>();
  let sentAsOfMs = 0;
  let sentAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let beats: NodeJS.Timeout | undefined;
  let isStopped = false;

  const finish = (stream: Stream, reason: Reason): void => {
    if (!open.delete(stream)) return;
    stream.leave();
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
    for (const stream of open) if (stream.isLive && !stream.offer(event)) finish(stream, "slow");
  };

  const flush = (): void => {
    const now = clock();
    // The model may tell of changes here, which then belong to this event.
    model.drain(now);
    timer = undefined;
    sentAt = performance.now();
    const some = [...changed].slice(0, eventStations);
    for (const station of some) changed.delete(station);
    if (changed.size === 0) sentAsOfMs = asOf(now);
    if (some.length > 0) send(eventOf(model.changesOf(some, now), sentAsOfMs, lifetimeMs));
    if (changed.size > 0) schedule();
  };

  const schedule = (): void => {
    if (open.size === 0) return;
    const waitMs = sentAt + config.streamEveryMs - performance.now();
    timer ??= setTimeout(flush, Math.max(0, waitMs));
  };

  const beat = (): void => {
    const now = clock();
    model.drain(now);
    if (changed.size === 0) sentAsOfMs = asOf(now);
    send(heartbeatOf(sentAsOfMs));
    const isCrowded = [...open].some(({ takenAt }) => takenAt === 0);
    if (!isCrowded) for (const kept of [lists, events]) kept.clear();
    for (const stream of isCrowded ? open : [])
      if (stream.takenAt === 0) stream.offer(heartbeatOf(stream.sinceMs));
      else if (performance.now() - stream.takenAt > config.streamHeartbeatMs)
        finish(stream, "slow");
  };

  /** Stops collecting changes while there are no streams. */
  const rest = (): void => {
    clearInterval(beats);
    clearTimeout(timer);
    timer = undefined;
    changed.clear();
    for (const kept of [lists, events]) kept.clear();
  };

  /** What has changed since then; without `mayBeOld` up to now. */
  const missedSince = (sinceMs: number, mayBeOld = false): Missed => {
    const known = lists.get(sinceMs);
    if (known !== undefined && (mayBeOld || known.version === version)) return known;
    const now = clock();
    const stations = Uint32Array.from(model.changedSince(sinceMs, now));
    const asOfMs = asOf(now);
    const cursors: number[] = [];
    for (let end = eventStations; end < stations.length; end += eventStations) {
      const changedAt = model.changedAt(stations[end - 1] as number);
      cursors.push(Math.min(asOfMs, Math.floor(changedAt / 1000) * 1000));
    }
    const list = { stations, cursors: [...cursors, asOfMs], version };
    lists.set(sinceMs, list);
    if (lists.size > catchingMost) lists.delete(lists.keys().next().value!);
    return list;
  };

  /**
   * What a stream has missed, shared with those that come with the same cursor, and made while readers take it. With the
   * last event it goes live: in the same turn, so that every later change is one to tell.
   */
  function* catchUp(stream: Stream): Generator<Buffer, undefined> {
    let { sinceMs } = stream;
    let list = missedSince(sinceMs, true);
    for (let part = 0; !stream.isLive; part += 1) {
      const { stations, cursors, version: until } = list;
      const name = `${sinceMs} ${until} ${part}`;
      const asOfMs = cursors[part]!;
      const some = stations.subarray(part * eventStations, (part + 1) * eventStations);
      const event =
        events.get(name) ??
        (some.length === 0
          ? heartbeatOf(asOfMs)
          : eventOf(model.changesOf(some, clock()), asOfMs, lifetimeMs));
      if (events.set(name, event).size > eventsKept) events.delete(events.keys().next().value!);
      const isLast = part === cursors.length - 1;
      stream.isLive = isLast && until === version;
      stream.takenAt = performance.now();
      yield event;
      if (isLast && !stream.isLive) [sinceMs, list, part] = [asOfMs, missedSince(asOfMs), -1];
    }
    stream.takenAt = Infinity;
    stream.leave();
  }

  const turns = createBatcher<Stream, void>({
    ...{ atOnce: catchingMost, max: 1 },
    run: ([stream]) =>
      new Promise((done) => {
        Object.assign(stream!, { leave: () => done([]), takenAt: performance.now() });
        if (open.has(stream!)) stream!.begin(catchUp(stream!));
        else done([]);
      }),
  });

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
    version += 1;
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
      if (open.size === 0) {
        sentAsOfMs = asOf(now);
        beats = setInterval(beat, config.streamHeartbeatMs);
      }
      const stream: Stream = {
        ...{ ...createEventBody(config.streamBacklogBytes), key, requestId },
        ...{ openedAt: performance.now(), sinceMs: sinceMs ?? asOf(now) },
        ...{ isLive: false, takenAt: 0, leave: () => undefined },
      };
      open.add(stream);
      stream.offer(openingOf(Math.round(config.streamRetryMs * (0.5 + Math.random()))));
      void turns.add(stream);
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
