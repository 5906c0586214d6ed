import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type Koa from "koa";
import type { HttpDeps } from "#api/http/deps.ts";
import { type State, apiBase } from "#api/http/route.ts";
import { minuteMs } from "#src/domain/units.ts";
import { localTarget } from "#api/http/register-routes.ts";
import { unencodedCities, limitHeaders } from "#api/http/middleware.ts";
import { problemHeaders, problemObject } from "#api/http/errors.ts";
import { plainAddress, viewerNetwork } from "#src/infrastructure/addresses.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";

export interface ServerTimes {
  /** Longest time for the head of a request, ms. */
  headersMs: number;
  /** Longest time for a whole request, ms. */
  requestMs: number;
  /** Time between two checks of these, ms. */
  checkMs: number;
  /** Longest time in which a caller takes nothing of its answer, ms. */
  stuckMs: number;
}

const usualTimes: ServerTimes = {
  headersMs: 15_000,
  requestMs: 30_000,
  checkMs: 2000,
  stuckMs: 30_000,
};
// Longer than the idle time of the usual load balancers, which must be the side that closes.
const keepAliveMs = 75_000;

const fullLogEveryMs = minuteMs;
/** Time between two looks whether this process stood still, and how late one is then, ms. */
const [lookMs, stallMs] = [250, 500];

/**
 * The HTTP server around the application. Requests that Node's parser refuses get problem+json too: never a 400,
 * never plain text (decisions 9).
 */
export function createApiServer(
  services: HttpDeps,
  app: Koa<State>,
  times: Partial<ServerTimes> = {},
): Server {
  const { headersMs, requestMs, checkMs, stuckMs } = { ...usualTimes, ...times };
  const over = new WeakSet<Duplex>();
  const latest = new WeakMap<Duplex, { req: IncomingMessage; res: ServerResponse }>();
  const settings = {
    requireHostHeader: false,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
  };
  const handle = app.callback() as RequestListener;
  // One request of a connection at a time: of pipelined ones Node tells only the answer that is being sent that the
  // connection has ended, and all others would wait for their callers for ever.
  const server = createServer(settings, (req, res) => {
    const before = latest.get(req.socket)?.res;
    latest.set(req.socket, { req, res });
    if (before === undefined || before.closed) handle(req, res);
    else before.once("close", () => void (req.socket.destroyed || handle(req, res)));
  });
  server.maxConnections = services.config.maxConnections;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  // Node takes a connection for idle once its answer is written, even if the caller has still to read most of it.
  server.closeIdleConnections = (): void => {
    if ([...sockets].every(({ writableLength }) => writableLength === 0)) closeIdle();
  };
  let toldAt = -Infinity;
  server.on("drop", () => {
    const now = performance.now();
    if (now - toldAt < fullLogEveryMs) return;
    toldAt = now;
    services.log.warn("MAX_CONNECTIONS are open: further connections are closed at once");
  });
  let [lookedAt, stalledAt] = [performance.now(), -Infinity];
  const looks = setInterval(() => {
    const now = performance.now();
    if (now - lookedAt > lookMs + stallMs) stalledAt = now;
    lookedAt = now;
  }, lookMs).unref();
  server.on("close", () => clearInterval(looks));
  server.setTimeout(stuckMs, (socket) => {
    // A process that stood still has written nothing: its callers get the same time again.
    if (performance.now() - stalledAt < stuckMs) {
      socket.setTimeout(stuckMs);
      return;
    }
    const res = latest.get(socket)?.res;
    const isWaiting = socket.writableLength > 0;
    // A stream without news, or an answer that is being made.
    if (res !== undefined && !res.writableFinished && !res.destroyed && !isWaiting) return;
    if (isWaiting) services.metrics.unreadEnded("stuck");
    socket.destroy();
  });

  // `Expect: something`: Node's own answer is a bare 417.
  server.on("checkExpectation", (req: IncomingMessage) => {
    answerUnparsed(services, req.socket, unparsedProblem({ code: "EXPECTATION" }));
  });

  server.on("connect", (_req: IncomingMessage, socket: Duplex) => {
    answerUnparsed(services, socket, unparsedProblem({ code: "CONNECT" }));
  });

  const refuse = (error: UnparsedError, socket: Duplex): void => {
    const current = latest.get(socket);
    const answer = (): void => {
      over.add(socket);
      void readUnencodedCity(error, socket as Socket, headersMs).then((read) => {
        if (read === null) answerUnparsed(services, socket, unparsedProblem(error));
        else answerRead(server, read, socket as Socket);
      });
    };
    // Bytes after a request that could not be read are no request.
    if (over.has(socket)) return;
    if (error.code === "ECONNRESET" || !socket.writable || isUnused(socket)) socket.destroy();
    else if (current === undefined) answer();
    else if (current.req.complete) {
      // The fault is in a further request: the answer to the one before it comes first.
      if (current.res.writableFinished) answer();
      else current.res.once("close", answer);
    }
    // The fault is in the body of a request that has got its answer already, or a part of it.
    else if (current.res.headersSent) socket.destroy();
    else answer();
  };
  server.on("clientError", (error: UnparsedError, socket: Duplex) => {
    if (error.code !== "ERR_HTTP_REQUEST_TIMEOUT") return refuse(error, socket);
    const before = latest.get(socket)?.req;
    const awaited = before?.complete === false ? before : null;
    void comesAfterAll(socket as Socket, headersMs, () => {
      const now = latest.get(socket)?.req;
      return now?.complete === true && (now === awaited || now !== before);
    }).then((come) => come || refuse(error, socket));
  });
  return server;
}

/** A connection opened in advance, on which nothing was ever asked: there is nothing to answer. */
const isUnused = (socket: Duplex): boolean => (socket as Socket).bytesRead === 0;

/**
 * Whether a request whose time has run out comes whole after all. A process that was frozen for a while checks its
 * timeouts before it reads what its callers have sent: the process is late then, not they.
 */
async function comesAfterAll(
  socket: Socket,
  patienceMs: number,
  isWhole: () => boolean,
): Promise<boolean> {
  const { bytesRead } = socket;
  // The sockets are read before this goes on.
  await nextTurn();
  if (socket.bytesRead === bytesRead || isWhole()) return isWhole();
  await sleep(patienceMs, undefined, { ref: false });
  return isWhole();
}

/** Has the application answer a request that Node's parser has not read, and then closes the connection. */
function answerRead(
  server: Server,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  socket: Socket,
): void {
  socket.on("error", () => {});
  socket.resume();
  res.assignSocket(socket);
  const close = (): void => {
    socket.off("close", close);
    res.detachSocket(socket);
    closeGently(socket);
    // Node does so for its own; then the line of the log is written.
    res.emit("close");
  };
  res.once("finish", close);
  socket.once("close", close);
  server.emit("request", req, res);
}

/**
 * Turns a request that Node's parser refuses, because the name of a city is not percent-encoded, into one that the
 * application can authenticate, meter and log (decisions 9.7). Null for any other fault, and when its head is not
 * complete within `patienceMs`.
 */
async function readUnencodedCity(
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
  Object.assign(req, { method, url: target.replaceAll(/[^\x21-\x7e]+/g, percentEncoded), headers });
  Object.assign(req, { httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 });
  req.complete = true;
  unencodedCities.add(req);
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

/** Bytes, each a character, as a text that can be read: what is no UTF-8 names no city anyway. */
const percentEncoded = (bytes: string): string =>
  encodeURIComponent(Buffer.from(bytes, "latin1").toString());

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

/** The error of Node's HTTP parser for bytes that it refuses. */
interface UnparsedError {
  code?: string;
  rawPacket?: Buffer;
  /** The place of the fault in `rawPacket`. */
  bytesParsed?: number;
}

/** The refusal of a request that could not be read. */
function unparsedProblem(error: UnparsedError): Refusal {
  const [msg, type] = reasons[error.code ?? ""] ?? ["Not a readable HTTP request", "http_invalid"];
  return refuse("validation-failed", [{ loc: ["request"], msg, type }]);
}

const reasons: Record<string, [msg: string, type: string]> = {
  HPE_INVALID_URL: ["URL should be percent-encoded", "url_invalid"],
  HPE_HEADER_OVERFLOW: ["Headers too large", "headers_too_large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["Chunk extensions too large", "headers_too_large"],
  ERR_HTTP_REQUEST_TIMEOUT: ["Request not complete in time", "timeout"],
  EXPECTATION: ["Expect should be 100-continue", "expectation"],
  CONNECT: ["CONNECT is not offered", "http_invalid"],
};

const lingerMs = 1000;

/** Writes a problem straight to the socket and closes it. */
function answerUnparsed(services: HttpDeps, socket: Duplex, problem: Refusal): void {
  const { config, log, meter, metrics } = services;
  const requestId = randomUUID();
  const peer = plainAddress((socket as Socket).remoteAddress ?? "");
  const object = problemObject(problem, config.problemBase, requestId);
  const { status } = object;
  const body = JSON.stringify(object);
  const all: Record<string, string> = {
    ...problemHeaders(problem),
    ...limitHeaders(meter.anonymous(viewerNetwork(peer))),
    "X-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff",
    "Content-Length": String(Buffer.byteLength(body)),
    Date: new Date().toUTCString(),
    Connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  metrics.finished("(unreadable)", status, 0);
  log.info({ request_id: requestId, status }, "unreadable request");
  socket.on("error", () => {});
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
  closeGently(socket);
}

/** Unread bytes at the close would reset the connection before the caller has read the answer. */
function closeGently(socket: Duplex): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
