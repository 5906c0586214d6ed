import { connect } from "node:net";
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

/** What a server says to these bytes until it closes the connection (or `untilMs` are over), as one string. */
export function say(port: number, bytes: string | Buffer, untilMs = 60_000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    const timer = setTimeout(() => socket.destroy(), untilMs);
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString());
    });
    socket.write(bytes);
  });
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
