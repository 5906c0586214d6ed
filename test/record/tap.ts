import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { isAnswered, methodsIn, readAnswers } from "#test/record/answers.ts";

/** What went over a connection from the first byte of a request until the next request or the end. */
export interface Exchange<Owner> {
  /** Who was at work when it began. */
  owner: Owner;
  /** Moments as numbers that only say what came before what. */
  startedAt: number;
  endedAt: number;
  sent: Buffer;
  /** More was sent, in small pieces, than is kept: how much is a matter of time. */
  more: boolean;
  heard: Buffer;
  /** Whether the connection was over when this was written down. */
  closed: boolean;
}

type Open<Owner> = Omit<Exchange<Owner>, "sent" | "heard" | "closed"> & {
  sent: Buffer[];
  heard: Buffer[];
};

const greeting = "HTTP/1.";
/** A request that comes in more writes than these is a test of slowness. */
const piecesMax = 5;

/**
 * Listens on every connection that this process opens, whoever opens it (`fetch`, node:http, a raw socket), and tells
 * `done` of each exchange with an HTTP server. Bytes pass unchanged. Other protocols are left alone at their first
 * answer. `flush` tells what is still open; a request that nobody answered is told when its port is known as HTTP.
 * After `stop`, connections that are opened are left alone.
 */
export function tapSockets<Owner>(
  owner: () => Owner,
  done: (exchange: Exchange<Owner>) => void,
): { flush(): void; stop(): void } {
  const httpPorts = new Set<number>();
  const flushes = new Set<() => void>();
  let unanswered: { port: number; exchange: Exchange<Owner> }[] = [];
  let moment = 0;

  const listen = (socket: Socket): void => {
    const { _write, _writev, push } = socket;
    let open: Open<Owner> | null = null;
    let port = 0;

    const finish = (closed: boolean): void => {
      if (open === null) return;
      const { sent, heard, ...rest } = open;
      open = null;
      const exchange = {
        ...rest,
        sent: Buffer.concat(sent),
        heard: Buffer.concat(heard),
        closed,
      };
      if (heard.length > 0) done(exchange);
      else unanswered.push({ port, exchange });
    };
    const leaveAlone = (): void => {
      open = null;
      flushes.delete(flush);
      Object.assign(socket, { _write, _writev, push });
    };
    const say = (bytes: Buffer): void => {
      if (open !== null && open.heard.length > 0 && isNext(open, bytes)) finish(false);
      moment += 1;
      open ??= {
        owner: owner(),
        startedAt: moment,
        endedAt: moment,
        sent: [],
        more: false,
        heard: [],
      };
      if (open.heard.length > 0 && isFinal(open)) return;
      if (open.sent.length < piecesMax) open.sent.push(bytes);
      else open.more = true;
    };
    const hear = (bytes: Buffer): void => {
      if (open === null) return;
      if (open.heard.length === 0) {
        const begin = bytes.subarray(0, greeting.length).toString("latin1");
        if (!greeting.startsWith(begin)) return leaveAlone();
        httpPorts.add(port);
      }
      moment += 1;
      open.endedAt = moment;
      open.heard.push(bytes);
    };
    const flush = (): void => finish(socket.destroyed);

    flushes.add(flush);
    socket.once("connect", () => (port = socket.remotePort ?? 0));
    socket.once("close", () => {
      finish(true);
      flushes.delete(flush);
    });
    socket._write = (chunk: unknown, encoding, callback) => {
      say(bytesOf(chunk, encoding));
      _write.call(socket, chunk, encoding, callback);
    };
    socket._writev = (chunks, callback) => {
      for (const { chunk, encoding } of chunks) say(bytesOf(chunk, encoding));
      _writev?.call(socket, chunks, callback);
    };
    socket.push = (chunk: unknown, encoding) => {
      if (chunk !== null && chunk !== undefined) hear(bytesOf(chunk, encoding ?? "utf8"));
      return push.call(socket, chunk, encoding);
    };
  };

  const channel = "net.client.socket";
  const onSocket = (message: unknown): void => listen((message as { socket: Socket }).socket);
  subscribe(channel, onSocket);
  return {
    stop: () => void unsubscribe(channel, onSocket),
    flush: () => {
      for (const flush of flushes) flush();
      const known = unanswered.filter(({ port }) => httpPorts.has(port));
      unanswered = unanswered.filter(({ port }) => !httpPorts.has(port));
      for (const { exchange } of known) done(exchange);
    },
  };
}

const bytesOf = (chunk: unknown, encoding: BufferEncoding): Buffer =>
  typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.from(chunk as Uint8Array);

/** Whether these bytes begin another request on a connection that is kept. */
const isNext = ({ sent, heard }: Open<unknown>, bytes: Buffer): boolean =>
  /^[A-Z]+ [^\r\n]* HTTP\/1\.[01]\r\n/.test(bytes.toString("latin1")) &&
  isAnswered(readAnswers(Buffer.concat(heard), methodsIn(Buffer.concat(sent)), false));

/** Whether more than an interim answer (100 Continue) has come. */
const isFinal = ({ heard }: Open<unknown>): boolean =>
  !/^HTTP\/1\.[01] 1\d\d/.test(heard[0]?.toString("latin1") ?? "");
