import { Agent, request } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import type { History, Read } from "#test/fault/history.ts";

const decoders = { gzip: promisify(gunzip), br: promisify(brotliDecompress) };
/** A process that is frozen answers nothing. */
const patienceMs = 10_000;

export interface Asked {
  baseUrl: string;
  /** Below `/api/v1/partner`. */
  path: string;
  /** What the history calls the key, and the key. */
  key: { name: string; text: string };
  encoding?: "gzip" | "br" | "identity";
  sentEtag?: string | null;
}

export interface Reader {
  /** Asks, and notes the answer. Never throws. `from`: the process and its start, by the history's name. */
  read(from: string, asked: Asked): Promise<Read>;
  close(): void;
}

/** Reads as a partner's server does, byte by byte: `fetch` would hide how an answer was packed and how it ended. */
export function createReader(history: History): Reader {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  return {
    read: async (from, asked) => {
      const { path, key, sentEtag = null } = asked;
      const startedAt = Date.now();
      const seen = { from, path, key: key.name, startedAt, sentEtag };
      const none = { etag: null, body: null, asOf: null, broken: null };
      const answer = await send(agent, asked).catch(() => null);
      const endedAt = Date.now();
      const read: Read =
        answer === null
          ? { ...seen, ...none, endedAt, status: 0 }
          : { ...seen, endedAt, ...answer };
      history.note(read);
      return read;
    },
    close: () => agent.destroy(),
  };
}

type Answer = Pick<Read, "status" | "etag" | "body" | "asOf" | "broken">;

/** Rejects when no whole answer came: the process was killed, or frozen. */
async function send(agent: Agent, { baseUrl, path, key, encoding = "gzip", sentEtag }: Asked) {
  const headers = {
    Authorization: `Bearer ${key.text}`,
    "Accept-Encoding": encoding,
    ...(sentEtag == null ? {} : { "If-None-Match": sentEtag }),
  };
  const { status, got, bytes } = await new Promise<{
    status: number;
    got: NodeJS.Dict<string | string[]>;
    bytes: Buffer;
  }>((resolve, reject) => {
    const call = request(`${baseUrl}/api/v1/partner${path}`, { agent, headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.once("error", reject);
      response.once("close", () => {
        const whole = { status: response.statusCode ?? 0, got: response.headers };
        if (response.complete) resolve({ ...whole, bytes: Buffer.concat(pieces) });
        else reject(new Error("the answer was cut off"));
      });
    });
    call.setTimeout(patienceMs, () => call.destroy(new Error("no answer")));
    call.once("error", reject);
    call.end();
  });
  const header = (name: string): string | null => (got[name] as string | undefined) ?? null;
  const answer = { status, etag: header("etag"), asOf: header("x-as-of") };
  const packing = header("content-encoding") ?? "identity";
  const read = await textOf(bytes, packing, header("content-type") ?? "");
  return { ...answer, ...read } satisfies Answer;
}

async function textOf(
  bytes: Buffer,
  packing: string,
  type: string,
): Promise<Pick<Read, "body" | "broken">> {
  if (bytes.length === 0) return { body: null, broken: null };
  try {
    const decode = packing === "gzip" || packing === "br" ? decoders[packing] : null;
    const plain = decode === null ? bytes : await decode(bytes);
    const body = new TextDecoder("utf-8", { fatal: true }).decode(plain);
    if (/json/.test(type))
      for (const text of type.includes("ndjson") ? body.trimEnd().split("\n") : [body])
        JSON.parse(text);
    return { body, broken: null };
  } catch (error) {
    return { body: null, broken: `${packing}, ${type}: ${String(error)}` };
  }
}
