import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** What came back on one connection. */
export interface Shot {
  status: number;
  /** The last part of the problem's `type`; empty for an answer that is none. */
  code: string;
  header(name: string): string | null;
}

/**
 * Opens `perServer` connections to each server, and only when all of them stand sends `GET path` on every one within
 * one turn of the event loop: a start barrier that no client library's queue comes between. `sent` is called when all
 * are on their way and none is answered.
 */
export async function fire(
  servers: readonly string[],
  perServer: number,
  path: string,
  key: string,
  sent: () => void = () => undefined,
): Promise<Shot[]> {
  const urls = servers.flatMap((server) =>
    Array.from({ length: perServer }, () => new URL(server)),
  );
  const sockets = urls.map((url) => connect(Number(url.port), url.hostname));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  const answers = sockets.map(readAll);
  for (const socket of sockets) {
    socket.write(
      `GET /api/v1/partner${path} HTTP/1.1\r\nHost: fuel\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
    );
  }
  sent();
  return (await Promise.all(answers)).map(shotOf);
}

async function readAll(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function shotOf(text: string): Shot {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    code: /"type":"[^"]*\/([^"/]+)"/.exec(body)?.[1] ?? "",
    header: (name) => new RegExp(`^${name}: *(.*)$`, "im").exec(head)?.[1] ?? null,
  };
}
