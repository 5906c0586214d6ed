import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { serveJobs } from "#bench/load/serve-jobs.ts";

/** What the readers of streams do next. Those that were opened stay open between jobs. */
export type StreamJob =
  | { do: "open"; port: number; keys: readonly string[]; perKey: number; count: number }
  | { do: "collect"; stations: readonly string[]; patienceMs: number }
  | { do: "close" };

export interface StreamsRead {
  /** Streams that are open now. */
  open: number;
  /** Collect: what has come since the streams were opened. */
  events: ReadEvent[];
}

export interface ReadEvent {
  stations: string[];
  /** When it had arrived whole, ms since the epoch: once for each reader that got it. */
  at: number[];
}

/** Streams that are being opened at the same time. */
const openedAtOnce = 50;
const lookEveryMs = 100;
/** All readers get the same bytes: an event is read once, and known again by them. */
const knownMax = 16;
const eventEnd = "\n\n";

const open = new Set<IncomingMessage>();
const events: ReadEvent[] = [];
let known: { bytes: Buffer; event: ReadEvent | null }[] = [];

serveJobs(run);

async function run(job: StreamJob): Promise<StreamsRead> {
  if (job.do === "open") {
    events.length = 0;
    let n = 0;
    const opener = async (): Promise<void> => {
      while (n < job.count) await openStream(job.port, job.keys[Math.floor(n++ / job.perKey)]!);
    };
    await Promise.all(Array.from({ length: openedAtOnce }, opener));
  } else if (job.do === "close") {
    for (const response of open) response.destroy();
    while (open.size > 0) await sleep(lookEveryMs);
  } else {
    const giveUpAt = performance.now() + job.patienceMs;
    while (!isWithAll(job.stations) && performance.now() < giveUpAt) await sleep(lookEveryMs);
  }
  return { open: open.size, events: job.do === "collect" ? events : [] };
}

/** Whether every reader has an event about each of these. */
function isWithAll(stations: readonly string[]): boolean {
  const seen = new Set(
    events.filter(({ at }) => at.length >= open.size).flatMap((event) => event.stations),
  );
  return stations.every((id) => seen.has(id));
}

async function openStream(port: number, key: string): Promise<void> {
  const asking = request({
    ...{ host: "127.0.0.1", port, path: "/api/v1/partner/stations/stream", agent: false },
    headers: { Authorization: `Bearer ${key}` },
  });
  asking.end();
  const [response] = (await once(asking, "response")) as [IncomingMessage];
  asking.on("error", () => {});
  response.on("error", () => {});
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  open.add(response);
  response.once("close", () => open.delete(response));
  let rest: Buffer | null = null;
  response.on("data", (piece: Buffer) => {
    const now = Date.now();
    let bytes = rest === null ? piece : Buffer.concat([rest, piece]);
    for (let end = bytes.indexOf(eventEnd); end >= 0; end = bytes.indexOf(eventEnd)) {
      take(bytes.subarray(0, end), now);
      bytes = bytes.subarray(end + eventEnd.length);
    }
    rest = bytes.length === 0 ? null : bytes;
  });
}

function take(bytes: Buffer, at: number): void {
  let found = known.find((one) => one.bytes.equals(bytes));
  if (found === undefined) {
    found = { bytes: Buffer.from(bytes), event: read(bytes.toString()) };
    known = [found, ...known.slice(0, knownMax - 1)];
    if (found.event !== null) events.push(found.event);
  }
  found.event?.at.push(at);
}

/** Null for what has no data: the opening, and heartbeats. */
function read(text: string): ReadEvent | null {
  const data = /^data: (.*)$/m.exec(text)?.[1];
  if (data === undefined) return null;
  const { stations, removed } = JSON.parse(data) as {
    stations: { id: string }[];
    removed: string[];
  };
  return { stations: [...stations.map(({ id }) => id), ...removed], at: [] };
}
