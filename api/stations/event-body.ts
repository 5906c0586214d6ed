import { Readable } from "node:stream";
import { presentList } from "#api/stations/format.ts";
import type { Changes } from "#snapshots/model/queries.ts";
import { formatTime } from "#src/domain/time.ts";

/**
 * An event of a stream (decisions 7.33) in the form of server-sent events: `id` is its `as_of`, `data` the
 * answer of a delta. Made once for all streams.
 */
export function eventOf(changes: Changes, asOfMs: number, lifetimeMs: number): Buffer {
  const { count, removed, mergedInto } = changes;
  const rest = { count, asOfMs, lifetimeMs, truncated: false, removed, mergedInto };
  return Buffer.concat([
    Buffer.from(`id: ${formatTime(asOfMs)}\ndata: `),
    ...presentList(changes.pieces(), rest),
    Buffer.from("\n\n"),
  ]);
}

/** A comment that readers skip. Its `id` moves their cursor on while nothing changes. */
export const heartbeatOf = (asOfMs: number): Buffer =>
  Buffer.from(`: heartbeat\nid: ${formatTime(asOfMs)}\n\n`);

/** The beginning of a stream; headers alone may wait in a proxy. */
export const openingOf = (retryMs: number): Buffer =>
  Buffer.from(`: stream of changes\nretry: ${retryMs}\n\n`);

export interface EventBody {
  body: Readable;
  /** Sends an event after all before it. False when more than the allowed bytes wait for the reader. */
  offer(event: Buffer): boolean;
  /** Sends events that are made one by one, each when the reader has taken all before it. */
  begin(catchUp: Iterator<Buffer, undefined>): void;
  /** Ends it in order, or cuts it off where the reader has left something unread. */
  end(): void;
}

/**
 * The body of one stream. All bodies share the events, so that waiting ones cost the process little more than those of
 * the slowest reader.
 */
export function createEventBody(backlogBytes: number): EventBody {
  const waiting: Buffer[] = [];
  let bytes = 0;
  let isWanted = false;
  let making: Iterator<Buffer, undefined> | null = null;
  const next = (): Buffer | undefined => {
    const event = waiting.shift();
    bytes -= event?.length ?? 0;
    return event ?? making?.next().value;
  };
  const push = (): void => {
    while (isWanted) {
      const event = next();
      if (event === undefined) return;
      isWanted = body.push(event);
    }
  };
  const body = new Readable({
    read() {
      isWanted = true;
      push();
    },
  });
  return {
    body,
    offer(event) {
      waiting.push(event);
      bytes += event.length;
      push();
      return bytes <= backlogBytes;
    },
    begin(catchUp) {
      making = catchUp;
      push();
    },
    end() {
      if (isWanted) body.push(null);
      else body.destroy();
    },
  };
}
