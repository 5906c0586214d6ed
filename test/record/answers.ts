import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** An answer as it stood on the wire. Names of headers in lower case, in the order sent, repeated ones too. */
export interface WireAnswer {
  status: number;
  reason: string;
  headers: [name: string, value: string][];
  /** As sent, without the framing of chunks. */
  body: Buffer;
  /** False when the caller stopped reading, or the connection broke. */
  whole: boolean;
}

/**
 * The answers in what a server said on one connection, interim ones (1xx) included. `methods` are those of the
 * requests in their order: the answer to a HEAD has no body whatever its headers say.
 */
export function readAnswers(
  heard: Buffer,
  methods: readonly string[],
  closed: boolean,
): WireAnswer[] {
  const answers: WireAnswer[] = [];
  let final = 0;
  for (let at = 0; at < heard.length;) {
    const headEnd = heard.indexOf("\r\n\r\n", at);
    if (headEnd < 0) break;
    const [first = "", ...lines] = heard.subarray(at, headEnd).toString("latin1").split("\r\n");
    const [, status = "0", reason = ""] = /^HTTP\/1\.[01] (\d{3}) ?(.*)$/.exec(first) ?? [];
    const headers = lines.map(headerOf);
    const head = { status: Number(status), reason, headers };
    at = headEnd + 4;
    const bodyless =
      head.status < 200 ||
      head.status === 204 ||
      head.status === 304 ||
      (methods[final] ?? methods.at(-1)) === "HEAD";
    if (head.status >= 200) final += 1;
    const found = bodyless
      ? { body: Buffer.alloc(0), end: at, whole: true }
      : bodyAt(heard, at, headers, closed);
    answers.push({ ...head, body: found.body, whole: found.whole });
    at = found.end;
  }
  return answers;
}

/** Whether everything that was asked for has been answered, as far as can be seen. */
export const isAnswered = (answers: readonly WireAnswer[]): boolean =>
  answers.some(({ status }) => status >= 200) && answers.every(({ whole }) => whole);

/** Methods of the requests in these bytes. */
export const methodsIn = (sent: Buffer): string[] =>
  [...sent.toString("latin1").matchAll(/(?:^|\n)([A-Z]+) [^\r\n]* HTTP\/1\.[01]\r\n/g)].map(
    ([, method = ""]) => method,
  );

/** A body without its compression; null when it cannot be unpacked. */
export function unpack(body: Buffer, encoding: string | undefined): Buffer | null {
  try {
    if (body.length === 0) return body;
    if (encoding === "gzip") return gunzipSync(body);
    if (encoding === "br") return brotliDecompressSync(body);
    if (encoding === "deflate") return inflateSync(body);
    return body;
  } catch {
    return null;
  }
}

/** A line of a head as name in lower case and value. */
export function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

interface FoundBody {
  body: Buffer;
  end: number;
  whole: boolean;
}

function bodyAt(
  heard: Buffer,
  from: number,
  headers: readonly [string, string][],
  closed: boolean,
): FoundBody {
  const value = (wanted: string) => headers.find(([name]) => name === wanted)?.[1];
  if (value("transfer-encoding") === "chunked") return chunksAt(heard, from);
  const length = value("content-length");
  const end = length === undefined ? heard.length : from + Number(length);
  const body = heard.subarray(from, end);
  const whole = length === undefined ? closed : end <= heard.length;
  return { body, end: Math.min(end, heard.length), whole };
}

function chunksAt(heard: Buffer, from: number): FoundBody {
  const parts: Buffer[] = [];
  for (let at = from; ;) {
    const lineEnd = heard.indexOf("\r\n", at);
    const size =
      lineEnd < 0 ? Number.NaN : Number.parseInt(heard.subarray(at, lineEnd).toString(), 16);
    const end = lineEnd + 2 + size + 2;
    if (!(end <= heard.length))
      return { body: Buffer.concat(parts), end: heard.length, whole: false };
    if (size === 0) return { body: Buffer.concat(parts), end, whole: true };
    parts.push(heard.subarray(lineEnd + 2, end - 2));
    at = end;
  }
}
