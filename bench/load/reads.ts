import { connect, type Socket } from "node:net";
import { serveJobs } from "#bench/load/serve-jobs.ts";
import { type Summary, summaryOf } from "#bench/load/summary.ts";

/** One stretch of reads, as the benchmark asks for it over IPC. */
export interface ReadJob {
  port: number;
  clients: number;
  seconds: number;
  /** Whole HTTP requests, sent in turn. */
  requests: string[];
}

export interface ReadMeasured extends Summary {
  /** Bytes of bodies. */
  bytes: number;
  /** Answers by status. */
  statuses: Record<string, number>;
}

// The load generator of reads: bare sockets that count what comes and look at nothing but the head.
serveJobs(run);

async function run({ port, clients, seconds, requests }: ReadJob): Promise<ReadMeasured> {
  const prepared = requests.map((one) => Buffer.from(one));
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let bytes = 0;
  let sent = 0;
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(port)));
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;

  const client = (socket: Socket): Promise<void> =>
    new Promise((done, lost) => {
      let askedAt = 0;
      let head: Buffer = Buffer.alloc(0);
      /** Bytes of the body still to come; null before the head is whole. */
      let missing: number | null = null;
      const ask = (): void => {
        askedAt = performance.now();
        if (askedAt >= endAt) return done();
        missing = null;
        head = Buffer.alloc(0);
        socket.write(prepared[sent++ % prepared.length]!);
      };
      socket.on("error", lost);
      socket.on("close", () =>
        lost(new Error(`closed within: ${prepared[(sent - 1) % prepared.length]}`)),
      );
      socket.on("data", (chunk: Buffer) => {
        if (missing === null) {
          head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
          const end = head.indexOf("\r\n\r\n");
          if (end < 0) return;
          const text = head.toString("latin1", 0, end);
          const status = text.slice(9, 12);
          const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? Number.NaN);
          if (status !== "304" && Number.isNaN(length))
            return lost(new Error(`an answer without length: ${text.slice(0, 200)}`));
          statuses[status] = (statuses[status] ?? 0) + 1;
          const whole = status === "304" ? 0 : length;
          bytes += whole;
          missing = whole - (head.length - end - 4);
        } else missing -= chunk.length;
        if (missing > 0) return;
        latencies.push(performance.now() - askedAt);
        ask();
      });
      ask();
    });

  await Promise.all(sockets.map(client));
  const summary = summaryOf(latencies, startedAt);
  for (const socket of sockets) socket.removeAllListeners("close").destroy();
  return {
    ...summary,
    bytes,
    statuses,
  };
}

const open = (port: number): Promise<Socket> =>
  new Promise((opened, refused) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    socket.once("error", refused);
    socket.once("connect", () => opened(socket));
  });
