import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Drawn } from "#test/fuzz/requests.ts";

/** The bytes of a request. A header of its own wins over the one that would be right. */
export function bytesOf({ method, target, headers, body }: Drawn, authorization: string): Buffer {
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  const framed = own.has("content-length") || own.has("transfer-encoding");
  const usual: [string, string][] = [
    ["Host", "127.0.0.1"],
    ["Authorization", authorization],
    ["Connection", "close"],
    ...(body === null || framed
      ? []
      : [["Content-Length", String(body.length)] as [string, string]]),
  ];
  const all = [...usual.filter(([name]) => !own.has(name.toLowerCase())), ...headers];
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const chunked = headers.some(
    ([name, value]) => name === "Transfer-Encoding" && value === "chunked",
  );
  const head = Buffer.concat([
    // A target in Cyrillic goes out in UTF-8, headers in one byte each.
    Buffer.from(`${method} ${target} HTTP/1.1\r\n`),
    Buffer.from(`${lines}\r\n`, "latin1"),
  ]);
  if (body === null) return head;
  return chunked
    ? Buffer.concat([
        head,
        Buffer.from(`${body.length.toString(16)}\r\n`),
        body,
        Buffer.from("\r\n0\r\n\r\n"),
      ])
    : Buffer.concat([head, body]);
}

export interface WireAnswer {
  status: number;
  headers: Headers;
  /** Unpacked; null when it is not whole. */
  body: string | null;
}

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

/** The answers in these bytes, the interim ones left out. */
export function readAnswers(heard: Buffer, method: string): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let at = 0; at < heard.length;) {
    const headEnd = heard.indexOf("\r\n\r\n", at);
    if (headEnd < 0) break;
    const [first = "", ...lines] = heard.subarray(at, headEnd).toString("latin1").split("\r\n");
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
    answers.push({ status, headers, body: found === null ? null : unpack(found.bytes, headers) });
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
