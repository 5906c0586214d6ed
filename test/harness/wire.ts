import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** An answer as it came over a connection. */
export interface WireAnswer {
  status: number;
  /** The last part of a problem's `type`; empty for an answer that is none. */
  code: string;
  /** With the line of the status. */
  head: string;
  headers: Headers;
  /** Unpacked; null when it is not whole. */
  body: string | null;
}

/** `/metrics` as a stranger may write it, to get past a proxy that refuses it. */
export const metricsSpellings = [
  ...[
    "/metrics",
    "/metrics?x",
    "//metrics",
    "///metrics",
    "/./metrics",
    "/.//metrics",
    "/x/../metrics",
  ],
  ...["/metrics/", "/metrics/.", "/metrics;x", "/metrics;", "/METRICS", "/Metrics/", "/%6detrics"],
  ...["/%6D%65%74rics", "/metric%73", "/%2fmetrics", "/%2e/metrics", "/metrics%2f", "/metrics%3b"],
  ...[
    "/x/%2e%2e/metrics",
    "/x/..//metrics/",
    "/%4detrics",
    "/metrics%20",
    "/metrics%3fx",
    "/api/../METRICS",
  ],
  "http://a/metrics",
];

/** What became of a connection. */
export interface Heard {
  answers: WireAnswer[];
  closed: boolean;
}

/**
 * Sends bytes on a connection of their own and reads until the server closes it, or says nothing more for `quietMs`
 * after an answer, or nothing at all for `patienceMs`.
 */
export function exchange(
  port: number,
  bytes: Buffer,
  method: string,
  { quietMs = 100, patienceMs = 10_000 } = {},
): Promise<Heard> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    let closed = true;
    const end = (): void => {
      closed = false;
      socket.destroy();
    };
    let timer = setTimeout(end, patienceMs);
    // Most answers end with the connection; the others are looked at when nothing more comes.
    const look = (): void => {
      const answers = readAnswers(Buffer.concat(chunks), method);
      const isWhole = ({ headers, body }: WireAnswer): boolean =>
        body !== null || headers.get("content-type") === "text/event-stream";
      const whole = answers.length > 0 && answers.every(isWhole);
      if (whole) end();
      else timer = setTimeout(end, patienceMs);
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(look, quietMs);
    });
    // The server may close before it has read all.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      done({ answers: readAnswers(Buffer.concat(chunks), method), closed });
    });
    socket.write(bytes);
  });
}

/** Longer than any server of the tests is silent before a further answer or the end, however busy the machine is. */
const openMs = 3000;

/**
 * What a server says to these bytes until it closes the connection (or `untilMs` are over), as one string. Throws when
 * the server answers and leaves the connection open: it waits for another request then, and would for a minute.
 *
 * @param bytes as one piece, or as several that are sent `pauseMs` apart
 */
export async function say(
  port: number,
  bytes: string | Buffer | readonly (string | Buffer)[],
  { untilMs = 60_000, pauseMs = 0 } = {},
): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  const pieces = typeof bytes === "string" || Buffer.isBuffer(bytes) ? [bytes] : bytes;
  const chunks: Buffer[] = [];
  const method = String(pieces[0]).startsWith("HEAD ") ? "HEAD" : "GET";
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve, reject) => {
    const look = (): void => {
      const answers = readAnswers(Buffer.concat(chunks), method);
      if (answers.length === 0 || answers.some(({ body }) => body === null)) return;
      const told = answers.map(({ status, code }) => `${status} ${code}`.trim()).join(", ");
      reject(new Error(`the connection stays open after ${told}`));
      socket.destroy();
    };
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      clearTimeout(timer);
      timer = setTimeout(look, openMs);
    });
    // A piece that comes after the answer resets the connection.
    socket.on("error", (error) => {
      if (pieces.length === 1 || chunks.length === 0) reject(error);
    });
    socket.on("close", resolve);
  });
  const end = setTimeout(() => socket.destroy(), untilMs);
  try {
    for (const [n, piece] of pieces.entries()) {
      if (n > 0 && pauseMs > 0) await sleep(pauseMs);
      if (socket.writable) socket.write(piece);
    }
    await over;
    return Buffer.concat(chunks).toString();
  } finally {
    clearTimeout(end);
    clearTimeout(timer);
  }
}

/** The answers to GET, or to anything whose answer has a body, in what `say` heard. */
export const answersOf = (said: string): WireAnswer[] => readAnswers(Buffer.from(said), "GET");

/** The answers in these bytes, the interim ones left out. */
export function readAnswers(heard: Buffer, method: string): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let at = 0; at < heard.length;) {
    const headEnd = heard.indexOf("\r\n\r\n", at);
    if (headEnd < 0) break;
    const head = heard.subarray(at, headEnd).toString("latin1");
    const [first = "", ...lines] = head.split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0);
    at = headEnd + 4;
    if (status === 100) continue;
    const headers = new Headers(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const bodyless = method === "HEAD" || status === 204 || status === 304;
    const found = bodyless ? { bytes: Buffer.alloc(0), end: at } : bodyAt(heard, at, headers);
    const body = found === null ? null : unpack(found.bytes, headers);
    const code = /"type":"[^"]*\/([^"/]+)"/.exec(body ?? "")?.[1] ?? "";
    answers.push({ status, code, head, headers, body });
    at = found?.end ?? heard.length;
  }
  return answers;
}

function bodyAt(
  heard: Buffer,
  from: number,
  headers: Headers,
): { bytes: Buffer; end: number } | null {
  const length = headers.get("content-length");
  if (length !== null) {
    const end = from + Number(length);
    return end > heard.length ? null : { bytes: heard.subarray(from, end), end };
  }
  const parts: Buffer[] = [];
  for (let at = from; ;) {
    const lineEnd = heard.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(heard.subarray(at, lineEnd).toString("latin1"), 16);
    const end = lineEnd + 2 + size + 2;
    if (!Number.isInteger(size) || end > heard.length) return null;
    if (size === 0) return { bytes: Buffer.concat(parts), end };
    parts.push(heard.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}

function unpack(bytes: Buffer, headers: Headers): string {
  const encoding = headers.get("content-encoding");
  if (encoding === "gzip" && bytes.length > 0) return gunzipSync(bytes).toString();
  if (encoding === "br" && bytes.length > 0) return brotliDecompressSync(bytes).toString();
  return bytes.toString();
}
