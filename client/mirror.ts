import type { CallSettings } from "./call.ts";
import { longestMs, pause } from "./call.ts";
import { createClient } from "./client.ts";
import { digestOf } from "./digest.ts";
import { isApiError } from "./problem.ts";
import { readStream } from "./stream.ts";
import type { Delta, Station, StationPage } from "./types.ts";
import { isFinal, type Wait } from "./waiting.ts";

/** The state to keep over a restart. */
export interface MirrorState {
  /** Everything that changed before it is in `stations`. */
  asOf: string;
  /** ETag of the dump that `stations` still are, else null. */
  etag: string | null;
  stations: Station[];
}

/** The place of the state. `save` must be atomic: the old state or the new one, never a part. */
export interface Store {
  load(): Promise<MirrorState | null>;
  save(state: MirrorState): Promise<void>;
}

export type Change =
  | { kind: "added"; before: null; after: Station }
  | { kind: "changed"; before: Station; after: Station }
  | { kind: "removed"; before: Station; after: null };

export interface MirrorOptions extends CallSettings {
  /** Without one every start takes the whole country. */
  store?: Store;
  /** Between two polls where there is no stream, ms; a minute. */
  pollMs?: number;
  /** `false`: polls only. Otherwise changes come by the stream, and by polls while it cannot be had. */
  stream?: boolean;
  /** A stream that says nothing for so long is given up, ms; 45 s, three times the usual heartbeat. */
  silentMs?: number;
  /**
   * Longest time between two comparisons of the copy with the service, ms; 30 minutes. A copy that differs is taken
   * anew: `onChange` gets the differences, `onError` an error. A copy from a store is compared when it starts.
   */
  compareMs?: number;
  /** Shortest time between two saves, ms; 30 s. `stop` saves at once. */
  saveMs?: number;
  /**
   * Told of changes before the copy shows them, and waited for. When it throws, the copy stays as it was and the
   * same changes come again: each one arrives at least once, over restarts too.
   */
  onChange?: (changes: readonly Change[]) => void | Promise<void>;
  /** Told of polls, streams and saves that failed; the mirror goes on trying. */
  onError?: (error: unknown) => void;
}

export interface Mirror {
  /** The copy, live, by station id. */
  readonly stations: ReadonlyMap<string, Station>;
  /** Everything that changed before it is in the copy; null before there is one. */
  asOf(): string | null;
  /** True while changes come by the stream. */
  isLive(): boolean;
  /**
   * Resolves when the copy has been brought up to date for the first time. Rejects when stopped before, and with an
   * error that no waiting mends: a key or an address that is refused. The mirror goes on trying, and a later call
   * waits anew.
   */
  ready(): Promise<void>;
  /** Brings the copy up to date now; rejects when that failed. */
  refresh(): Promise<void>;
  /** Ends stream and polls, and saves. */
  stop(): Promise<void>;
}

const pageLimit = 30_000;
const unchangedSaveMs = 3600_000;
const failedPollMs = 5000;
const retryMs = 3000;
/** Time after which any process that answers the next poll has this one's changes too. */
const settleMs = 5000;
/** Longest time after which a stream that could not be had is tried again. */
const withoutStreamMs = 600_000;

/**
 * Keeps a local copy of all stations: the whole country once, then the changes, by the stream or by polls. The
 * next delta or stream always begins at the `as_of` of the last whole answer, also where that lies before the one asked
 * for. A poll and a stream never run at once: their answers may come from processes of which one is behind.
 */
export function mirror(options: MirrorOptions): Mirror {
  const { store, pollMs = 60_000, saveMs = 30_000, onChange, onError = () => {} } = options;
  const { stream: wantsStream = true, silentMs = 45_000, compareMs = 1800_000 } = options;
  let failingSince: Date | null = null;
  const onWait = (wait: Wait): void =>
    options.onWait?.({ ...wait, since: (failingSince ??= wait.since) });
  const client = createClient({ ...options, onWait });
  const stations = new Map<string, Station>();
  const stopping = new AbortController();
  const { signal } = stopping;
  let first = deferred();
  let reached = false;
  let asOf: string | null = null;
  let etag: string | null = null;
  // `at` is by a clock that nobody sets back: a save must not wait for the wall clock to catch up.
  let saved = { asOf: null as string | null, at: -Infinity, changed: false };
  /** Time of the next comparison of the copy, by the same clock. */
  let compareAt = -Infinity;
  /** Comparisons in a row that ended unequal. */
  let unequal = 0;
  let running: Promise<void> | null = null;
  let again: Promise<void> | null = null;
  let following: { cut: AbortController; over: Promise<unknown> } | null = null;
  let isLive = false;
  /** Streams in a row that said nothing: an older server, a proxy that holds them back. */
  let misses = 0;

  const load = async (): Promise<void> => {
    const state = await store?.load();
    if (state == null) return;
    ({ asOf, etag } = state);
    for (const station of state.stations) stations.set(station.id, station);
    saved = { asOf, at: performance.now(), changed: false };
  };

  const save = async (): Promise<void> => {
    if (store === undefined || asOf === null || asOf === saved.asOf) return;
    const state = { asOf, etag, stations: [...stations.values()] };
    await store.save(state);
    saved = { asOf: state.asOf, at: performance.now(), changed: false };
  };

  const commit = async (changes: readonly Change[], reached: Reached): Promise<void> => {
    if (changes.length > 0) await onChange?.(changes);
    for (const { before, after } of changes)
      if (after === null) stations.delete(before.id);
      else stations.set(after.id, after);
    ({ asOf, etag } = reached);
    saved.changed ||= changes.length > 0;
  };

  const takeWhole = async (known: string | null): Promise<void> => {
    // The ETag must stand for this copy: after a delta it does not any more.
    const answer = await client.all.ifChanged({ limit: pageLimit }, known, { signal });
    if (answer.body === null) return commit([], { asOf: answer.asOf, etag });
    const whole = new Map<string, Station>();
    let page: StationPage = answer.body;
    for (;;) {
      for (const station of page.stations) whole.set(station.id, station);
      // Empty or absent on the last page.
      if (!page.next_cursor) break;
      page = await client.all({ limit: pageLimit, cursor: page.next_cursor }, { signal });
    }
    const changes = [...whole.values()].flatMap((after) => changeOf(stations.get(after.id), after));
    for (const before of stations.values())
      if (!whole.has(before.id)) changes.push({ kind: "removed", before, after: null });
    // Pages were taken one after the other: together they are no single version.
    const single = page === answer.body;
    await commit(changes, { asOf: answer.body.as_of, etag: single ? answer.etag : null });
    compareAt = performance.now() + compareMs;
  };

  const takeDelta = async (delta: Delta): Promise<void> => {
    const changes = delta.stations.flatMap((after) => changeOf(stations.get(after.id), after));
    for (const id of delta.removed) {
      const before = stations.get(id);
      if (before !== undefined) changes.push({ kind: "removed", before, after: null });
    }
    await commit(changes, { asOf: delta.as_of, etag: changes.length === 0 ? etag : null });
  };

  /** Answers the digest that the copy should have now; undefined from an older server. */
  const takeChanges = async (since: string): Promise<string | undefined> => {
    const delta = await client.delta({ updated_since: since }, { signal });
    await takeDelta(delta);
    return delta.digest;
  };

  /**
   * Takes the country anew where the copy has another digest. Before that it asks once more: the process that answered
   * may have been behind the one that the copy comes from.
   */
  const compare = async (expected: string | undefined): Promise<void> => {
    const isEqual = async (digest: string | undefined): Promise<boolean> =>
      digest === undefined || digest === (await digestOf(stations.values()));
    let equal = await isEqual(expected);
    if (!equal) {
      await pause(Math.min(settleMs, pollMs), signal);
      equal = await isEqual(await takeChanges(asOf as string));
    }
    if (!equal) {
      onError(new Error("the copy differs from the service: it is taken anew"));
      await takeWhole(null);
      equal = await isEqual(await takeChanges(asOf as string));
    }
    unequal = equal ? 0 : unequal + 1;
    compareAt = performance.now() + Math.min(compareMs, equal ? compareMs : pollMs * 4 ** unequal);
  };

  const saveWhenDue = async (): Promise<void> => {
    const dueMs = saved.changed ? saveMs : unchangedSaveMs;
    if (performance.now() - saved.at >= dueMs) await save().catch(onError);
  };

  const poll = async (): Promise<void> => {
    await loaded;
    following?.cut.abort(new Error("a poll comes first"));
    await following?.over;
    signal.throwIfAborted();
    if (asOf === null) await takeWhole(null);
    else {
      const expected = await takeChanges(asOf).catch(async (error: unknown) => {
        // 422: `window-too-old`, or a cursor that the server cannot read.
        if (!isApiError(error) || error.status !== 422) throw error;
        await takeWhole(etag);
        return null;
      });
      if (expected !== null && performance.now() >= compareAt) await compare(expected);
    }
    reached = true;
    failingSince = null;
    first.resolve();
    await saveWhenDue();
  };

  /** Takes what the stream says until it ends. Answers after how long another one may be opened, ms. */
  const follow = async (since: string, cut: AbortSignal): Promise<number> => {
    const openedAt = performance.now();
    let againMs: number | null = null;
    const wait = (): number =>
      // One that does not last is no better than polls.
      againMs !== null && performance.now() - openedAt >= pollMs ? againMs : pollMs;
    try {
      for await (const message of readStream(options, { since, silentMs, signal: cut })) {
        isLive = true;
        misses = 0;
        againMs = message.retryMs ?? againMs ?? retryMs;
        if (message.delta !== null) await takeDelta(message.delta);
        else if (message.asOf !== null) await commit([], { asOf: message.asOf, etag });
        await saveWhenDue();
      }
      return wait();
    } catch (error) {
      if (cut.aborted) return 0;
      onError(error);
      if (isApiError(error) && againMs === null)
        return Math.max(
          (error.retryAfterS ?? 0) * 1000,
          Math.min(withoutStreamMs, pollMs * 2 ** misses++),
        );
      return wait();
    } finally {
      isLive = false;
    }
  };

  const followed = async (since: string): Promise<number> => {
    const cut = new AbortController();
    const pass = (): void => cut.abort(signal.reason);
    signal.addEventListener("abort", pass, { once: true });
    const over = follow(since, cut.signal);
    following = { cut, over };
    const due = setTimeout(
      () => cut.abort(new Error("a comparison is due")),
      Math.min(longestMs, Math.max(0, compareAt - performance.now())),
    );
    const againMs = await over;
    clearTimeout(due);
    following = null;
    signal.removeEventListener("abort", pass);
    return againMs;
  };

  // At most one poll runs and one waits: a call during a poll needs one that begins after the call.
  const refresh = (): Promise<void> => {
    if (running === null) {
      running = poll().finally(() => (running = null));
      return running;
    }
    again ??= running
      .catch(() => {})
      .then(() => {
        again = null;
        return refresh();
      });
    return again;
  };

  const loaded = load().catch(onError);
  const loop = (async () => {
    let streamFrom = wantsStream ? 0 : Infinity;
    while (!signal.aborted) {
      let waitMs = pollMs * (0.9 + Math.random() / 5);
      try {
        await (running ?? refresh());
        // A poll that was asked for meanwhile comes first.
        if (running !== null) waitMs = 0;
        else if (!signal.aborted && asOf !== null && performance.now() >= streamFrom) {
          const againMs = await followed(asOf);
          streamFrom = performance.now() + againMs;
          waitMs = Math.min(waitMs, againMs);
        }
      } catch (error) {
        if (signal.aborted) break;
        if (!reached && isFinal(error)) {
          first.reject(error);
          first = deferred();
        }
        onError(error);
        waitMs = waitAfter(error, pollMs);
        onWait({ error, since: new Date(), waitMs });
      }
      await pause(waitMs, signal).catch(() => {});
    }
  })();

  return {
    stations,
    asOf: () => asOf,
    isLive: () => isLive,
    ready: () => first.promise,
    refresh,
    stop: async () => {
      const stopped = new Error("the mirror was stopped");
      stopping.abort(stopped);
      await loop;
      await (again ?? running)?.catch(() => {});
      first.reject(stopped);
      await save().catch(onError);
    },
  };
}

interface Reached {
  asOf: string;
  etag: string | null;
}

/** Nothing, where an answer repeats what is here already. */
function changeOf(before: Station | undefined, after: Station): Change[] {
  if (before === undefined) return [{ kind: "added", before: null, after }];
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ kind: "changed", before, after }];
}

/** Soon when nobody answered, as long as asked for when limited, else at the usual time. */
function waitAfter(error: unknown, pollMs: number): number {
  if (!isApiError(error)) return pollMs;
  if (error.retryAfterS !== null) return Math.max(pollMs, error.retryAfterS * 1000);
  return error.status === 0 || error.status >= 500 ? Math.min(pollMs, failedPollMs) : pollMs;
}

function deferred() {
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
  // A rejection that nobody waits for must not end the process.
  promise.catch(() => {});
  return { promise, resolve, reject };
}
