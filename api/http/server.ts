import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import {
  answerUnparsed,
  closeGently,
  unparsedProblem,
  type UnparsedError,
} from "#api/http/parser-errors.ts";
import type Koa from "koa";
import type { State } from "#api/http/context.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import { readUnencodedCity } from "#api/http/unencoded-city.ts";
import { minuteMs } from "#src/domain/units.ts";

export interface ServerTimes {
  /** Longest time for the head of a request, ms. */
  headersMs: number;
  /** Longest time for a whole request, ms. */
  requestMs: number;
  /** Time between two checks of these, ms. */
  checkMs: number;
}

const usualTimes: ServerTimes = { headersMs: 15_000, requestMs: 30_000, checkMs: 2000 };
// Longer than the idle time of the usual load balancers, which must be the side that closes.
const keepAliveMs = 75_000;

const fullLogEveryMs = minuteMs;

/**
 * The HTTP server around the application. Requests that Node's parser refuses get problem+json too: never a 400,
 * never plain text (decisions 9).
 */
export function createApiServer(
  services: HttpDeps,
  app: Koa<State>,
  times: Partial<ServerTimes> = {},
): Server {
  const { headersMs, requestMs, checkMs } = { ...usualTimes, ...times };
  const over = new WeakSet<Duplex>();
  const latest = new WeakMap<Duplex, { req: IncomingMessage; res: ServerResponse }>();
  const settings = {
    requireHostHeader: false,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    keepAliveTimeout: keepAliveMs,
  };
  const server = createServer(settings, app.callback() as RequestListener);
  server.maxConnections = services.config.maxConnections;
  let toldAt = -Infinity;
  server.on("drop", () => {
    const now = performance.now();
    if (now - toldAt < fullLogEveryMs) return;
    toldAt = now;
    services.log.warn("MAX_CONNECTIONS are open: further connections are closed at once");
  });
  server.on("request", (req, res) => latest.set(req.socket, { req, res }));

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
