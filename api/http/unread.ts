import type { ServerResponse } from "node:http";
import { Gauge } from "prom-client";
import { refused } from "#api/http/errors.ts";
import type { HttpDeps } from "#api/http/deps.ts";

/** Shorter answers are not counted, bytes. */
const countedMin = 16_384;
/** An answer that is younger is never ended for want of room: its caller may just be far away. */
const patienceMs = 5000;
const retryS = 5;

/** Memory that an answer keeps: the buffer below its slices. */
type Held = Pick<ArrayBufferLike, "byteLength">;

/**
 * The answers that wait for their callers to read them. Bytes that several answers share count once; `UNREAD_BYTES`
 * bounds their sum: beyond it the oldest answers end, and where all are young, further long ones are refused.
 */
export function createUnread({ config, metrics }: Pick<HttpDeps, "config" | "metrics">) {
  const answers = new Map<ServerResponse, { parts: Set<Held>; since: number }>();
  const users = new Map<Held, number>();
  let bytes = 0;
  const registers = [metrics.registry];
  const gauge = (name: string, help: string, value: () => number): void =>
    void new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge("fuelmark_unread_bytes", "Bytes of answers that wait for their callers.", () => bytes);
  gauge("fuelmark_unread_answers", "Long answers that wait for their callers.", () => answers.size);
  const release = (res: ServerResponse): void => {
    const answer = answers.get(res);
    if (!answers.delete(res)) return;
    for (const part of answer!.parts) {
      const left = users.get(part)! - 1;
      if (left > 0) users.set(part, left);
      else if (users.delete(part)) bytes -= part.byteLength;
    }
  };

  const makeRoom = (): void => {
    const now = performance.now();
    // In the order in which they began.
    for (const [res, { since }] of answers) {
      if (bytes <= config.unreadBytes || now - since < patienceMs) break;
      metrics.unreadEnded("full");
      release(res);
      res.destroy();
    }
    if (bytes > config.unreadBytes)
      throw refused("upstream-unavailable", "Too many answers wait to be read.", {
        retryAfterS: retryS,
      });
  };

  return {
    /** Counts an answer until it is taken or given up. Throws a refusal where there is no room for it. */
    hold(res: ServerResponse, held: readonly Held[], size: number): void {
      // A caller that has left while its answer was packed will not close again.
      if (size < countedMin || res.closed) return;
      if (bytes > config.unreadBytes) makeRoom();
      const parts = new Set(held);
      for (const part of parts) {
        const used = users.get(part) ?? 0;
        users.set(part, used + 1);
        if (used === 0) bytes += part.byteLength;
      }
      answers.set(res, { parts, since: performance.now() });
      res.once("close", () => release(res));
    },
  };
}
