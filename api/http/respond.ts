import { Readable, pipeline } from "node:stream";
import type { Answer, State } from "#api/http/context.ts";
import {
  coderOf,
  compress,
  type Encoding,
  pickEncoding,
  refusesIdentity,
} from "#api/http/encoding.ts";
import { limitHeaders } from "#api/http/limits.ts";
import { describe } from "#api/http/explain.ts";
import { renderProblem } from "#api/http/problem.ts";
import type { Reply } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { isRefusal } from "#src/contract/refusals.ts";

const compressMin = 1024;

/**
 * Sends an answer: a reply or a refusal. The head is written at once, as a flat list of names and values: Node takes
 * a quarter longer over headers that are set one by one.
 */
export function respond({
  config,
  log,
  health,
}: Pick<Services, "config" | "log" | "health">): (
  state: State,
  answer: Answer,
) => Promise<void> | void {
  const onBroken = (state: State, error: Error): void =>
    log.warn({ request_id: state.requestId, ...describe(error) }, "answer broken off");

  return (state, answer) => {
    const head = headOf(state);
    if (health.stopping) head.push("Connection", "close");
    if (isRefusal(answer)) {
      const rendered = renderProblem(answer, config.problemBase, state.requestId);
      addAll(head, rendered.headers);
      return write(state, rendered.status, head, Buffer.from(rendered.body));
    }
    const { slices, headers = {} } = answer;
    const { body = slices ?? null, status = body === null ? 204 : 200 } = answer;
    addReply(head, state, headers);
    if (body === null) return write(state, status, head, null);
    if (headers["Content-Type"] === undefined)
      head.push("Content-Type", "application/json; charset=utf-8");
    const accepted = state.req.headers["accept-encoding"] as string | undefined;
    const encoding =
      headers["Content-Encoding"] === undefined ? pickEncoding(accepted) : "identity";
    if (body instanceof Readable) return pour(state, status, head, body, encoding, onBroken);
    if (slices !== undefined && (encoding === "identity" || isTooShort(sizeOf(slices), accepted)))
      return writeSlices(state, status, head, slices);
    const plain = slices !== undefined ? Buffer.concat(slices) : bytesOf(body);
    if (encoding === "identity" || isTooShort(plain.length, accepted))
      return write(state, status, head, plain);
    head.push("Content-Encoding", encoding);
    return compress(plain, encoding).then((packed) => write(state, status, head, packed));
  };
}

/** Not worth packing, unless the caller takes nothing else. */
const isTooShort = (size: number, accepted: string | undefined): boolean =>
  size < compressMin && !refusesIdentity(accepted);

const bytesOf = (body: object | string): Buffer =>
  Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));

/** What every answer carries. */
function headOf({ requestId, limits }: State): string[] {
  const head = ["X-Request-Id", requestId, "X-Content-Type-Options", "nosniff"];
  if (limits !== undefined) addAll(head, limitHeaders(limits));
  return head;
}

function addAll(head: string[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) head.push(name, headers[name] as string);
}

function addReply(head: string[], { method }: State, headers: NonNullable<Reply["headers"]>): void {
  if (headers["Cache-Control"] === undefined) head.push("Cache-Control", "private, no-cache");
  let vary = method === "GET" || method === "HEAD" ? "Accept-Encoding" : "";
  for (const name in headers) {
    const value = headers[name] as string;
    if (name !== "Vary") head.push(name, value);
    else vary = vary === "" ? value : `${vary}, ${value}`;
  }
  if (vary !== "") head.push("Vary", vary);
}

function write(state: State, status: number, head: string[], body: Buffer | null): void {
  const { res, method } = state;
  if (body !== null) {
    state.bytes = body.length;
    head.push("Content-Length", String(body.length));
  }
  res.writeHead(status, head);
  if (method === "HEAD" || body === null) res.end();
  else res.end(body);
}

/** Below this a slice costs more to write than to copy. */
const slicedMin = 16_384;

/** Long slices go out as they are, short neighbours as one. */
function writeSlices(
  state: State,
  status: number,
  head: string[],
  slices: readonly Buffer[],
): void {
  const size = sizeOf(slices);
  if (size < 4 * slicedMin) return write(state, status, head, Buffer.concat(slices));
  const { res, method } = state;
  state.bytes = size;
  head.push("Content-Length", String(size));
  res.writeHead(status, head);
  if (method === "HEAD") return void res.end();
  res.cork();
  let short: Buffer[] = [];
  const flush = (): void => {
    if (short.length > 0) res.write(short.length === 1 ? short[0] : Buffer.concat(short));
    short = [];
  };
  for (const slice of slices) {
    if (slice.length < slicedMin) short.push(slice);
    else {
      flush();
      res.write(slice);
    }
  }
  flush();
  res.end();
}

const sizeOf = (slices: readonly Buffer[]): number =>
  slices.reduce((sum, { length }) => sum + length, 0);

function pour(
  state: State,
  status: number,
  head: string[],
  body: Readable,
  encoding: Encoding,
  onBroken: (state: State, error: Error) => void,
): void {
  const { res, method } = state;
  if (encoding !== "identity") head.push("Content-Encoding", encoding);
  res.writeHead(status, head);
  if (method === "HEAD") {
    body.destroy();
    res.end();
    return;
  }
  // On an error the socket is closed, so that a caller never takes a torn answer for a whole one.
  const done = (error: NodeJS.ErrnoException | null): void => {
    if (error && error.code !== "ERR_STREAM_PREMATURE_CLOSE") onBroken(state, error);
  };
  if (encoding === "identity") pipeline(body, res, done);
  else pipeline(body, coderOf(encoding), res, done);
}
