import { connect, type Socket } from "node:net";

export interface RawAnswer {
  status: number;
  body: string;
}

/** One keep-alive connection that sends prepared requests one after another. */
export interface Connection {
  /** Sends a request's bytes and resolves with its answer; rejects when the connection is lost. */
  send(request: string): Promise<RawAnswer>;
  close(): void;
}

const headEnd = Buffer.from("\r\n\r\n");

/**
 * A bare socket instead of an HTTP client: the load generator shares the machine with what it measures. Understands
 * what the servers here send: a Content-Length on every answer.
 */
export function openConnection(host: string, port: number): Promise<Connection> {
  const socket = connect({ host, port, noDelay: true });
  let waiting: { resolve: (answer: RawAnswer) => void; reject: (error: Error) => void } | null =
    null;
  let received: Buffer = Buffer.alloc(0);

  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = parse(received);
    if (answer === null || waiting === null) return;
    received = Buffer.alloc(0);
    const { resolve } = waiting;
    waiting = null;
    resolve(answer);
  });
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = null;
  };
  socket.on("close", () => fail(new Error("connection closed")));
  return new Promise((opened, refused) => {
    socket.once("error", (error) => {
      refused(error);
      fail(error);
    });
    socket.once("connect", () => opened(connectionOf(socket, (next) => (waiting = next))));
  });
}

const connectionOf = (
  socket: Socket,
  expect: (next: { resolve: (answer: RawAnswer) => void; reject: (error: Error) => void }) => void,
): Connection => ({
  send: (request) =>
    new Promise((resolve, reject) => {
      expect({ resolve, reject });
      socket.write(request);
    }),
  close: () => socket.destroy(),
});

/** The answer when all of it is there. */
function parse(bytes: Buffer): RawAnswer | null {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return null;
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const from = end + headEnd.length;
  if (bytes.length < from + length) return null;
  return { status: Number(head.slice(9, 12)), body: bytes.toString("utf8", from, from + length) };
}
