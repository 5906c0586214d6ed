import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "#test/harness/listening.ts";

/** The server of a source: it answers each path as the test says. */
export interface SourceServer {
  origin: string;
  /** What was asked for, the oldest first. */
  asked: { path: string; headers: http.IncomingHttpHeaders }[];
  /** Answers of paths; 404 for others. Each may answer later, in pieces, or never. */
  answers: Map<string, (response: ServerResponse, request: IncomingMessage) => void>;
  close(): Promise<void>;
}

export async function startSourceServer(): Promise<SourceServer> {
  const source: SourceServer = { origin: "", asked: [], answers: new Map(), close: async () => {} };
  const server = http.createServer((request, response) => {
    const path = request.url ?? "";
    source.asked.push({ path, headers: request.headers });
    const answer = source.answers.get(path);
    if (answer === undefined) response.writeHead(404).end("not here");
    else answer(response, request);
  });
  const { origin, close } = await listening("a source's server", server);
  return Object.assign(source, { origin, close });
}

/** Answers with a text, and with 304 when it is asked for with this ETag. */
export const file =
  (text: string | Buffer, headers: Record<string, string> = {}) =>
  (response: ServerResponse, request: IncomingMessage): void => {
    const isKnown =
      headers["ETag"] !== undefined && request.headers["if-none-match"] === headers["ETag"];
    if (isKnown) response.writeHead(304, headers).end();
    else response.writeHead(200, headers).end(text);
  };
