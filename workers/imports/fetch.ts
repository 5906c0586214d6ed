import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { SeenFile } from "#src/import/feeds/turns.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { createReceivers } from "#src/pushes/receivers.ts";

type Receivers = ReturnType<typeof createReceivers>;

/** A file that was fetched; null when it is the one of before. */
export type Fetched = SeenFile | null;

const redirectsMax = 5;
/** Own agents, because a proxy of the process's environment would look the host up itself, without our check. */
const agents = { "http:": new http.Agent(), "https:": new https.Agent() } as const;

/**
 * Stores the file at `address` as `to`, and gives its marks; null when the server says that it is the one that `before`
 * names. The address, and each one that it is redirected to, is checked after the DNS look-up (decisions 14.37).
 * Rejects with a sentence as its message when that fails, takes too long, or the file is too large.
 */
export async function fetchFile(
  receivers: Receivers,
  config: Config,
  address: string,
  { to, before, stop, onBytes }: Target,
): Promise<Fetched> {
  const [timeout, silence] = [AbortSignal.timeout(config.feedTimeoutMs), new AbortController()];
  const signal = AbortSignal.any([timeout, silence.signal, stop]);
  const onSilence = (): void => silence.abort();
  try {
    let url = address;
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      const checked = await receivers.read(url);
      if ("fault" in checked) throw new Error(`${url}: ${checked.fault}`);
      const asked = { before, signal, onSilence, silenceMs: config.feedSilenceMs };
      const response = await get(receivers, new URL(checked.url), asked);
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
        throw new Error(`${url} answered ${statusCode}`);
      const next = new URL(headers.location, url);
      next.hash = "";
      url = next.href;
    }
    throw new Error(`${address} is redirected more than ${redirectsMax} times`);
  } catch (error) {
    const { feedTimeoutMs, feedSilenceMs } = config;
    const why = timeout.aborted
      ? `took longer than FEED_TIMEOUT_MS (${feedTimeoutMs} ms)`
      : silence.signal.aborted
        ? `sent nothing for FEED_SILENCE_MS (${feedSilenceMs} ms)`
        : null;
    throw why === null ? error : new Error(`${address} ${why}`, { cause: error });
  }
}

export interface Target {
  to: string;
  before: SeenFile | null;
  /** Aborted when the process stops. */
  stop: AbortSignal;
  onBytes: (bytes: number) => void;
}

interface Asked {
  before: SeenFile | null;
  signal: AbortSignal;
  silenceMs: number;
  onSilence: () => void;
}

const get = (
  { lookup }: Receivers,
  url: URL,
  { before, signal, silenceMs, onSilence }: Asked,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { request } = url.protocol === "https:" ? https : http;
    const headers = {
      "User-Agent": "Fuelmark-Feeds/1",
      Accept: "*/*",
      "Accept-Encoding": "gzip",
      ...(before?.etag == null ? {} : { "If-None-Match": before.etag }),
      ...(before?.modified == null ? {} : { "If-Modified-Since": before.modified }),
    };
    const agent = agents[url.protocol as keyof typeof agents];
    const sent = request(url, { headers, lookup, signal, agent }, resolve);
    sent.setTimeout(silenceMs, onSilence);
    sent.on("error", (error: Error & { errors?: Error[] }) =>
      // A connection to several addresses fails with one error for each of them.
      reject(new Error(`${url.href}: ${error.message || error.errors?.[0]?.message}`)),
    );
    sent.end();
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
