import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { readAnswers, type WireAnswer } from "#test/harness/wire.ts";

/**
 * Opens `perServer` connections to each server, and only when all of them stand sends `GET path` on every one within
 * one turn of the event loop: a start barrier that no client library's queue comes between. `sent` is called when all
 * are on their way and none is answered; `viewer` is the address that a proxy tells.
 */
export async function fire(
  servers: readonly string[],
  perServer: number,
  path: string,
  key: string,
  { sent, viewer = "192.0.2.1" }: { sent?: () => void; viewer?: string } = {},
): Promise<WireAnswer[]> {
  const urls = servers.flatMap((server) =>
    Array.from({ length: perServer }, () => new URL(server)),
  );
  const sockets = urls.map((url) => connect(Number(url.port), url.hostname));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const answers = sockets.map(readAll);
  for (const socket of sockets) {
    socket.write(
      `GET /api/v1/partner${path} HTTP/1.1\r\nHost: fuel\r\nAuthorization: Bearer ${key}\r\nX-Forwarded-For: ${viewer}\r\nConnection: close\r\n\r\n`,
    );
  }
  sent?.();
  return (await Promise.all(answers)).flatMap((heard) => readAnswers(heard, "GET"));
}

async function readAll(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
