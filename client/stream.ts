import { addressOf, type CallSettings } from "./call.ts";
import { errorOf, isApiError, noAnswer } from "./problem.ts";
import type { Delta } from "./types.ts";

/** One message of a stream. */
export interface StreamMessage {
  /** The changes; null for a heartbeat. */
  delta: Delta | null;
  /** Everything that changed before it has been sent; null when the cursor has not moved. */
  asOf: string | null;
  /** Time after which to come back when the stream has ended, ms, if the server says so. */
  retryMs: number | null;
}

export interface StreamOptions {
  /** The end of the copy, an `as_of`. */
  since: string;
  /** Longest silence before the stream is ended, ms. */
  silentMs: number;
  signal: AbortSignal;
}

/** The first words come at once, unless something on the way holds them back. */
const openingMs = 15_000;

/**
 * Reads `/stations/stream` until the server ends it in order. Throws an ApiError when the server refuses, and
 * one with status 0 when there is no stream, or it breaks off, or falls silent.
 */
export async function* readStream(
  { baseUrl, key, fetch: send = fetch }: CallSettings,
  { since, silentMs, signal }: StreamOptions,
): AsyncGenerator<StreamMessage> {
  const watch = watchSilence(signal);
  let patienceMs = Math.min(openingMs, silentMs);
  try {
    const response = await watch.over(
      send(addressOf(baseUrl, "/stations/stream"), {
        headers: {
          Authorization: `Bearer ${key}`,
          Accept: "text/event-stream",
          "Last-Event-ID": since,
        },
        signal: watch.signal,
      }),
      patienceMs,
    );
    if (response.status >= 400) throw await errorOf(response);
    const type = response.headers.get("content-type") ?? "";
    if (response.body === null || !type.startsWith("text/event-stream"))
      throw new Error(`no stream, but ${type}`);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parse = createParser();
    for (;;) {
      // The clock stands still while the caller is busy with a message.
      const { done, value } = await watch.over(reader.read(), patienceMs);
      if (done) return;
      patienceMs = silentMs;
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } catch (error) {
    throw isApiError(error) ? error : noAnswer(watch.signal.aborted ? watch.signal.reason : error);
  } finally {
    watch.end();
  }
}

/** A signal that also fires when a wait takes too long. */
function watchSilence(outer: AbortSignal) {
  const inner = new AbortController();
  const pass = (): void => inner.abort(outer.reason);
  if (outer.aborted) pass();
  outer.addEventListener("abort", pass, { once: true });
  return {
    signal: inner.signal,
    async over<T>(waited: Promise<T>, silentMs: number): Promise<T> {
      const silent = new Error(`the stream was silent for ${silentMs} ms`);
      const timer = setTimeout(() => inner.abort(silent), silentMs);
      try {
        return await waited;
      } finally {
        clearTimeout(timer);
      }
    },
    /** Ends the watch, and closes the connection. */
    end: (): void => {
      outer.removeEventListener("abort", pass);
      inner.abort(new Error("the stream is not read any more"));
    },
  };
}

/** A parser of server-sent events (WHATWG HTML 9.2.6) that takes a stream's text piece by piece. */
function createParser(): (text: string) => Generator<StreamMessage> {
  let rest = "";
  let data: string[] = [];
  let fields: Record<string, string> = {};
  return function* parse(text) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map((one) => one.replace(/\r$/, ""))) {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (name === "data") data.push(value);
      else if (name !== "") fields[name] = value;
      if (line !== "") continue;
      // A kind of event that this version does not know moves nothing but the cursor.
      const isKnown = fields["event"] === undefined || fields["event"] === "message";
      yield {
        delta: data.length > 0 && isKnown ? (JSON.parse(data.join("\n")) as Delta) : null,
        asOf: fields["id"] ?? null,
        retryMs: /^\d+$/.test(fields["retry"] ?? "") ? Number(fields["retry"]) : null,
      };
      data = [];
      fields = {};
    }
  };
}
