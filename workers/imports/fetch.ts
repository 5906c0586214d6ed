import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import type { ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { SeenFile } from "#src/import/feeds/feed-runs.ts";
import { withoutQuery } from "#src/import/feeds/feeds.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type createReceivers, faultOf } from "#src/pushes/receivers.ts";

type Receivers = ReturnType<typeof createReceivers>;

/** A file that was fetched; null when it is the one of before. */
export type Fetched = SeenFile | null;

const redirectsMax = 5;
/** Bytes a second that a file has to come with at least, over the looks of each FEED_SILENCE_MS (decisions 14.60). */
const leastBytesS = 1000;
const looks = 10;

/**
 * Stores the file at `address` as `to`, and gives its marks; null when the server says that it is the one that `before`
 * names. The address, and each one that it is redirected to, is checked after the DNS look-up (decisions 14.37).
 * Rejects with a sentence as its message when that fails, takes too long, or the file is too large.
 */
export async function fetchFile(
  receivers: Receivers,
  config: Config,
  address: string,
  { to, before, stop, onBytes: tell }: Target,
): Promise<Fetched> {
  const { feedTimeoutMs, feedSilenceMs } = config;
  const [timeout, slow] = [AbortSignal.timeout(feedTimeoutMs), new AbortController()];
  const signal = AbortSignal.any([timeout, slow.signal, stop]);
  let [bytes, known, early, looked] = [0, 0, 0, 0];
  const looking = setInterval(() => {
    looked += 1;
    if (looked === 1) early = bytes;
    if (looked < looks) return;
    if (bytes - known < (leastBytesS * feedSilenceMs) / 1000) slow.abort();
    else [known, looked] = [bytes, 0];
  }, feedSilenceMs / looks);
  const onBytes = (all: number): void => tell((bytes = all));
  try {
    let url = address;
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      const checked = await receivers.read(url);
      if ("fault" in checked) throw new Error(`${withoutQuery(url)}: ${checked.fault}`);
      const headersSent = headersFor(before);
      const sent = receivers.request(new URL(checked.url), { headers: headersSent, signal });
      sent.end();
      // An error after the response has begun is one of its stream too.
      sent.on("error", () => undefined);
      const response = await responseTo(sent);
      looked = 0;
      const { statusCode = 0, headers } = response;
      const isRedirect = [301, 302, 303, 307, 308].includes(statusCode);
      if (statusCode === 200) {
        const unpack = /\bgzip\b/.test(headers["content-encoding"] ?? "") ? [createGunzip()] : [];
        const hash = await store([response, ...unpack], to, config.feedBytes, { signal, onBytes });
        return { etag: headers.etag ?? null, modified: headers["last-modified"] ?? null, hash };
      }
      response.destroy();
      if (statusCode === 304 && before !== null) return null;
      if (!isRedirect || headers.location === undefined)
        throw new Error(`${withoutQuery(url)} answered ${statusCode}`);
      const next = new URL(headers.location, url);
      next.hash = "";
      url = next.href;
    }
    throw new Error(`${withoutQuery(address)} is redirected more than ${redirectsMax} times`);
  } catch (error) {
    const sent = bytes === early ? "sent nothing for" : `sent ${bytes - known} bytes in`;
    const why = timeout.aborted
      ? `took longer than FEED_TIMEOUT_MS (${feedTimeoutMs} ms)`
      : slow.signal.aborted
        ? `${sent} FEED_SILENCE_MS (${feedSilenceMs} ms), where ${leastBytesS} a second are the least: take the file from a faster server, or have it copied below FEEDS_FOLDER`
        : null;
    throw new Error(why === null ? faultOf(error) : `${withoutQuery(address)} ${why}`, {
      cause: error,
    });
  } finally {
    clearInterval(looking);
  }
}

/** Rejects when the connection ends before, also by a 101, of which nothing else is told. */
const responseTo = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.once("response", resolve).once("error", reject);
    sent.once("close", () => reject(new Error("The connection ended without an answer")));
  });

export interface Target {
  to: string;
  before: SeenFile | null;
  /** Aborted when the process stops. */
  stop: AbortSignal;
  onBytes: (bytes: number) => void;
}

/** Asks for the file only if it is another one than `before`. */
const headersFor = (before: SeenFile | null): Record<string, string> => ({
  ...{ "User-Agent": "Fuelmark-Feeds/1", Accept: "*/*", "Accept-Encoding": "gzip" },
  ...(before?.etag == null ? {} : { "If-None-Match": before.etag }),
  ...(before?.modified == null ? {} : { "If-Modified-Since": before.modified }),
});

/** Writes a stream into the file `to`; gives the SHA-256 of its bytes. Rejects when they are more than `bytesMax`. */
export async function store(
  from: readonly (Readable | NodeJS.ReadWriteStream)[],
  to: string,
  bytesMax: number,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (bytes: number) => void },
): Promise<string> {
  const hash = createHash("sha256");
  let bytes = 0;
  const measure = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > bytesMax)
        throw new Error(`The file has more than FEED_BYTES (${bytesMax}); nothing was changed`);
      hash.update(piece);
      onBytes(bytes);
      yield piece;
    }
  };
  await pipeline([...from, measure, createWriteStream(to)] as never, { signal });
  return hash.digest("hex");
}
