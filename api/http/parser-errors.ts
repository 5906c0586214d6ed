import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { limitHeaders } from "#api/http/limits.ts";
import { problemHeaders, problemObject } from "#api/http/errors.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import { plainAddress, viewerNetwork } from "#src/infrastructure/addresses.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";

/** The error of Node's HTTP parser for bytes that it refuses. */
export interface UnparsedError {
  code?: string;
  rawPacket?: Buffer;
  /** The place of the fault in `rawPacket`. */
  bytesParsed?: number;
}

/** The refusal of a request that could not be read. */
export function unparsedProblem(error: UnparsedError): Refusal {
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
export function answerUnparsed(services: HttpDeps, socket: Duplex, problem: Refusal): void {
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
export function closeGently(socket: Duplex): void {
  socket.end();
  socket.resume();
  setTimeout(() => socket.destroy(), lingerMs).unref();
}
