import type { Config } from "#src/infrastructure/config.ts";
import { type createReceivers, faultOf } from "#src/pushes/receivers.ts";
import type { Attempt } from "#src/pushes/webhooks/claims.ts";

/** A claim is this much longer than an attempt, for the database and a busy machine. */
export const claimSpareMs = 20_000;
/** Characters of an answer that are kept for the partner to read. */
const answerMax = 500;
const answerBytesMax = 4 * answerMax;

/**
 * Posts `body` to a webhook or a push service, over a connection of its own, to an address that is checked after the
 * DNS lookup. Follows no redirect and reads only the beginning of the answer. Never rejects: `fault` has the error.
 */
export async function post(
  receivers: ReturnType<typeof createReceivers>,
  { webhookTimeoutMs }: Pick<Config, "webhookTimeoutMs">,
  address: string,
  headers: Record<string, string>,
  body: string | Buffer,
): Promise<Attempt> {
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  const timeout = AbortSignal.timeout(webhookTimeoutMs);
  try {
    const url = new URL(address);
    // Also checks a host that is an address itself, which a socket does not look up.
    await receivers.addressesOf(url.hostname);
    const { status, answer } = await exchange(receivers, url, headers, body, timeout);
    return { status, answer, fault: null, durationMs: durationMs() };
  } catch (error) {
    const fault = timeout.aborted ? `no answer within ${webhookTimeoutMs} ms` : faultOf(error);
    return { status: null, answer: null, fault, durationMs: durationMs() };
  }
}

function exchange(
  receivers: ReturnType<typeof createReceivers>,
  url: URL,
  headers: Record<string, string>,
  body: string | Buffer,
  signal: AbortSignal,
): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const sent = receivers.request(url, { method: "POST", headers, signal });
    let end: (() => void) | null = null;
    // The status has come with the head: what goes wrong after it takes no answer away.
    const fail = (error: Error): void => (end === null ? reject(error) : end());
    sent.on("response", (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      end = (): void => {
        resolve({ status: response.statusCode!, answer: readable(Buffer.concat(pieces)) });
        sent.destroy();
      };
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes >= answerBytesMax) end!();
      });
      response.on("end", end);
      response.on("error", fail);
    });
    sent.on("error", fail);
    // All that is told of a 101, which nobody asked for: without an end the worker would wait for ever.
    sent.on("close", () => fail(new Error("The connection ended without an answer")));
    sent.end(body);
  });
}

/** The first characters of an answer, without those that a database cannot store or a page cannot show. */
const readable = (bytes: Buffer): string =>
  new TextDecoder()
    .decode(bytes.subarray(0, answerBytesMax))
    .slice(0, answerMax)
    .replaceAll(/\p{Cc}/gu, " ");
