import { mirror, type Mirror, type MirrorOptions } from "#client/mirror.ts";
import type { Station } from "#client/types.ts";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "#test/harness/listening.ts";

/** What it does with one request: an answer, or null to cut the connection. */
export type Scripted = {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Text in place of a body, after which the answer stays open, or ends. */
  text?: string;
  staysOpen?: boolean;
} | null;

export interface ScriptedServer {
  baseUrl: string;
  /** `METHOD path` of all requests so far. */
  asked: string[];
  headers: IncomingMessage["headers"][];
  stop(): Promise<void>;
}

/** A server that answers as it is told: for what a real one does only in bad moments. */
export async function startScripted(
  answer: (asked: string, count: number) => Scripted | Promise<Scripted>,
): Promise<ScriptedServer> {
  const asked: string[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const handle = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const what = `${req.method} ${decodeURIComponent((req.url ?? "").replace("/api/v1/partner", ""))}`;
    asked.push(what);
    headers.push(req.headers);
    req.resume();
    const scripted = await answer(what, asked.length);
    if (scripted === null) return void req.socket.destroy();
    res.writeHead(scripted.status, scripted.headers);
    if (scripted.text !== undefined) res.write(scripted.text);
    if (scripted.staysOpen) {
      res.flushHeaders();
      return;
    }
    res.end(scripted.body === undefined ? undefined : JSON.stringify(scripted.body));
  };
  const server = createServer((req, res) => void handle(req, res));
  const { origin, close } = await listening("scripted server", server);
  return { baseUrl: origin, asked, headers, stop: close };
}

export interface Site {
  server: ScriptedServer;
  /** What the server answers by path; a list is used up from its front but for its last. */
  answers: Record<string, Scripted[]>;
  /** A mirror of the server, which ends with the test. */
  start(options?: Partial<MirrorOptions>): Mirror;
}

/** A scripted server for each test of a `describe`, which answers so at first, and its mirrors. */
export function useSite(
  usual: Partial<MirrorOptions>,
  first: () => Site["answers"] = () => ({}),
): Site {
  const open: Mirror[] = [];
  const site = {
    start: (options = {}) => {
      const settings = { baseUrl: site.server.baseUrl, key: "k", retries: 0, ...usual };
      const one = mirror({ ...settings, ...options });
      open.push(one);
      return one;
    },
  } as Site;
  beforeEach(async () => {
    site.answers = first();
    site.server = await startScripted((asked) => {
      const found = Object.keys(site.answers).find((path) => asked.startsWith(`GET ${path}`));
      const list = site.answers[found ?? ""] ?? [];
      return (list.length > 1 ? list.shift() : list[0]) ?? null;
    });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.stop()));
    await site.server.stop();
  });
  return site;
}

/** A problem of that code, as the API words it. */
export const problem = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Scripted => ({
  status,
  headers: { "Content-Type": "application/problem+json", ...headers },
  body: {
    type: `http://x/problems/${code}`,
    title: code,
    status,
    detail: "because",
    request_id: "r",
  },
});

/** A UTC time of the scripts. */
export const time = (second: number): string =>
  `2026-01-01 00:00:${String(second).padStart(2, "0")}`;

/** A station as far as a mirror looks at it. */
export const station = (id: string, name = ""): Station =>
  ({ id, lat: 1, lon: 2, brand: "", name, addr: "", fuel: { status: "yes" } }) as Station;
