import { webcrypto } from "node:crypto";
import http, {
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import https from "node:https";
import { listening } from "#test/harness/listening.ts";

interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what was posted, looked at field by field
  body: any;
}

export interface Receiver {
  url: string;
  posts: Received[];
  /** The most requests that were open at a time. */
  atOnce: number;
  /** Answers a request; 204 by default. `n` counts them from 0. It may answer later, or never. */
  answer: (response: ServerResponse, n: number) => void;
  close(): Promise<void>;
}

/** A partner's server that keeps what it gets, over https where it has a certificate. */
export async function startReceiver(tls?: { cert: Buffer; key: Buffer }): Promise<Receiver> {
  let open = 0;
  const receive: RequestListener = (request, response) => {
    open += 1;
    receiver.atOnce = Math.max(receiver.atOnce, open);
    response.once("close", () => (open -= 1));
    let raw = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => (raw += piece));
    request.on("end", () => {
      receiver.posts.push({ headers: request.headers, raw, body: JSON.parse(raw) });
      receiver.answer(response, receiver.posts.length - 1);
    });
  };
  const server = tls === undefined ? http.createServer(receive) : https.createServer(tls, receive);
  const { port, close } = await listening("a partner's server", server);
  const receiver: Receiver = {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}/hook`,
    posts: [],
    atOnce: 0,
    answer: (response) => void response.writeHead(204).end(),
    close,
  };
  return receiver;
}

/** Answers with a status alone. */
export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end("not now");

const { subtle } = webcrypto;

/**
 * Verifies a request as the specification of Standard Webhooks tells a receiver to, by another library than the sender's.
 * True when one of its signatures is of this secret.
 */
export async function isSigned(
  secret: string,
  { headers, raw }: Pick<Received, "headers" | "raw">,
): Promise<boolean> {
  const key = await subtle.importKey(
    "raw",
    Uint8Array.from(atob(secret.slice("whsec_".length)), (one) => one.charCodeAt(0)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  );
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    String(headers[`webhook-${name}`]),
  );
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${raw}`);
  for (const signature of signatures!.split(" ")) {
    const [version, base64 = ""] = signature.split(",");
    const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    if (version === "v1" && (await subtle.verify("HMAC", key, bytes, signed))) return true;
  }
  return false;
}
