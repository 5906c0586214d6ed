import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { localTarget } from "#api/http/identify.ts";
import type { UnparsedError } from "#api/http/parser-errors.ts";
import { apiBase } from "#api/http/route.ts";
import { refuse } from "#src/contract/refusals.ts";

/** The refusal of such a request, after all checks. */
export const cityNotEncoded = refuse(
  "city-not-found",
  "Send the name of the city percent-encoded in UTF-8.",
);

const found = new WeakSet<IncomingMessage>();

/** True for a request of `readUnencodedCity`. */
export const hasUnencodedCity = (req: IncomingMessage): boolean => found.has(req);

/**
 * Turns a request that Node's parser refuses, because the name of a city is not percent-encoded, into one that the
 * application can authenticate, meter and log (decisions 9.7). Null for any other fault, and when its head is not
 * complete within `patienceMs`.
 */
export async function readUnencodedCity(
  { code, rawPacket, bytesParsed = 0 }: UnparsedError,
  socket: Socket,
  patienceMs: number,
): Promise<{ req: IncomingMessage; res: ServerResponse } | null> {
  if (code !== "HPE_INVALID_URL" || rawPacket === undefined) return null;
  // Each byte as one character.
  const text = rawPacket.toString("latin1");
  const start = bytesParsed === 0 ? 0 : text.lastIndexOf("\n", bytesParsed - 1) + 1;
  const begun = text.slice(start);
  if (!asksForCity(/^(?:GET|HEAD) (\S[^\r\n]*)/.exec(begun)?.[1] ?? "")) return null;
  const [line = "", ...lines] = (await wholeHead(begun, socket, patienceMs))?.split("\r\n") ?? [];
  const [, method, target = ""] = /^(GET|HEAD) (\S.*) HTTP\/1\.[01]$/.exec(line) ?? [];
  const headers = headersOf(lines);
  if (method === undefined || headers === null) return null;
  const req = new IncomingMessage(socket);
  Object.assign(req, { method, url: target.replaceAll(/[^\x21-\x7e]/g, percentEncoded), headers });
  Object.assign(req, { httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 });
  req.complete = true;
  found.add(req);
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  return { req, res };
}

const headMax = 16_384;

/** The head that begins with this text, without its end; null when it is too long or late, or the caller is gone. */
function wholeHead(begun: string, socket: Socket, patienceMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    let text = begun;
    const done = (head: string | null): void => {
      clearTimeout(timer);
      socket.off("data", add);
      socket.off("close", giveUp);
      resolve(head);
    };
    const giveUp = (): void => done(null);
    const look = (): void => {
      const end = text.indexOf("\r\n\r\n");
      if (end >= 0 && end <= headMax) done(text.slice(0, end));
      else if (end >= 0 || text.length > headMax) giveUp();
    };
    const add = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      look();
    };
    const timer = setTimeout(giveUp, patienceMs);
    socket.on("data", add);
    socket.on("close", giveUp);
    look();
  });
}

function asksForCity(target: string): boolean {
  const [path = "", search = ""] = localTarget(target).split(/\?(.*)/s);
  const reads = path === `${apiBase}/stations` || path === `${apiBase}/stations/all`;
  return reads && /(^|&)city=[^&]*[\x80-\xff]/.test(search);
}

const percentEncoded = (byte: string): string =>
  `%${byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`;

/** The first header of a name counts, as in Node for those that matter. Null when a line is no header. */
function headersOf(lines: readonly string[]): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value = ""] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) return null;
    headers[name.toLowerCase()] ??= value;
  }
  return headers;
}
