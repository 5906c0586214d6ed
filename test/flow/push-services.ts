import {
  createDecipheriv,
  createECDH,
  type ECDH,
  hkdfSync,
  randomBytes,
  webcrypto,
} from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AlertMessage } from "#src/contract/alert-text.ts";
import type { Subscription } from "#src/pushes/alerts/devices.ts";
import { listening } from "#test/harness/listening.ts";

interface Pushed {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A push service that keeps what it gets. */
export interface PushService {
  origin: string;
  pushed: Pushed[];
  /** Answers a request; 201 by default. */
  answer: (response: ServerResponse) => void;
  close(): Promise<void>;
}

export async function startPushService(): Promise<PushService> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const { url, headers } = request;
      service.pushed.push({ path: url!, headers, body: Buffer.concat(pieces) });
      service.answer(response);
    });
  });
  const service: PushService = {
    ...(await listening("a push service", server)),
    pushed: [],
    answer: (response) => void response.writeHead(201).end(),
  };
  return service;
}

/** What a browser keeps of a subscription: with it, it reads what it is sent. */
export interface Browser {
  device: string;
  path: string;
  subscription: Subscription;
  read(pushed: Pushed): AlertMessage;
}

let browsers = 0;

/** A driver's browser that takes notifications at `service`. */
export function newBrowser({ origin }: Pick<PushService, "origin">): Browser {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const auth = randomBytes(16).toString("base64url");
  const path = `/to/${(browsers += 1)}`;
  const keys = { p256dh: pair.getPublicKey("base64url"), auth };
  return {
    device: `browser ${browsers} of a driver`,
    path,
    subscription: { endpoint: `${origin}${path}`, keys },
    read: ({ body }) =>
      JSON.parse(decrypt(body, pair, Buffer.from(auth, "base64url"))) as AlertMessage,
  };
}

/** What a browser does with a message: RFC 8291 and RFC 8188, written from them and not by the sender's library. */
function decrypt(body: Buffer, own: ECDH, auth: Buffer): string {
  const salt = body.subarray(0, 16);
  const keyEnd = 21 + body[20]!;
  const sender = body.subarray(21, keyEnd);
  const derive = (secret: Uint8Array, salted: Buffer, info: Buffer, bytes: number): Uint8Array =>
    new Uint8Array(hkdfSync("sha256", secret, salted, info, bytes));
  const shared = own.computeSecret(sender);
  const names = Buffer.concat([Buffer.from("WebPush: info\0"), own.getPublicKey(), sender]);
  const secret = derive(shared, auth, names, 32);
  const key = derive(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derive(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  const sealed = body.subarray(keyEnd);
  const opening = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([opening.update(sealed.subarray(0, -16)), opening.final()]);
  // The last record ends with 2, and zeros after it.
  return text.subarray(0, text.lastIndexOf(2)).toString();
}

/**
 * Verifies a request as RFC 8292 tells a push service to. Gives what the token says, and the key (base64url) whose holder
 * has signed it. Throws when nobody has.
 */
export async function signedBy({
  headers,
}: Pushed): Promise<{ key: string; claims: { aud: string; exp: number; sub: string } }> {
  const [, token = "", key = ""] = /^vapid t=([^,]+), *k=(.+)$/.exec(headers.authorization!) ?? [];
  const [head = "", claims = "", signature = ""] = token.split(".");
  const curve = { name: "ECDSA", namedCurve: "P-256" };
  const { subtle } = webcrypto;
  const bytes = Buffer.from(key, "base64url");
  const verifier = await subtle.importKey("raw", bytes, curve, false, ["verify"]);
  const isSigned = await subtle.verify(
    { name: "ECDSA", hash: "SHA-256" },
    verifier,
    Buffer.from(signature, "base64url"),
    Buffer.from(`${head}.${claims}`),
  );
  if (!isSigned) throw new Error("the token is not signed with its key");
  const read = JSON.parse(Buffer.from(claims, "base64url").toString()) as never;
  return { key, claims: read };
}
