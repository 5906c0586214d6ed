import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { ReadMeasured } from "#bench/load/reads.ts";
import type { Watched } from "#bench/load/visibility.ts";
import type { Server } from "#bench/processes.ts";
import { dumpUrl, get } from "#bench/reads/cases.ts";

export interface Freshness {
  watched: Watched;
  reads: ReadMeasured;
  /** ms from a mark's request to its visibility, ascending. */
  inStations: number[];
  inDump: number[];
  /** Samples that were not seen in time. */
  missing: { stations: number; dump: number };
  loop: LoopDelay;
}

export interface LoopDelay {
  /** ms */
  longest: number;
  p99: number;
}

export interface WatchedWeb {
  port: number;
  key: string;
  server: Server;
  /** The newest line that `bench/loop-delay.ts` has logged. */
  delay: () => LoopDelay | null;
}

const lookMs = 250;
/** A dump may come this much later, ms; the goal is 16 s. */
const patienceMs = 25_000;
const unzip = promisify(gunzip);

/** Measures one web process while `marks` are on their way through another and `reads` are asked of this one. */
export async function measureFreshness(
  web: WatchedWeb,
  marks: () => Promise<Watched>,
  reads: () => Promise<ReadMeasured>,
): Promise<Freshness> {
  await readDelay(web);
  const dumps: { at: number; ids: Set<string> }[] = [];
  let done = false;
  const watching = watchDumps(web, dumps, () => done);
  const [watched, measured] = await Promise.all([marks(), reads()]);
  const loop = await readDelay(web);
  const seenAt = (id: string): number | undefined => dumps.find(({ ids }) => ids.has(id))?.at;
  const end = Date.now() + patienceMs;
  while (Date.now() < end && watched.samples.some(({ id }) => seenAt(id) === undefined))
    await sleep(lookMs);
  done = true;
  await watching;
  const ascending = (values: (number | null)[]): number[] =>
    values.filter((value) => value !== null).sort((a, b) => a - b);
  const inStations = ascending(watched.samples.map(({ visibleMs }) => visibleMs));
  const inDump = ascending(
    watched.samples.map(({ id, sentAt }) => {
      const at = seenAt(id);
      return at === undefined ? null : at - sentAt;
    }),
  );
  const total = watched.samples.length;
  const missing = { stations: total - inStations.length, dump: total - inDump.length };
  return { watched, reads: measured, inStations, inDump, missing, loop };
}

async function watchDumps(
  { port, key }: WatchedWeb,
  dumps: { at: number; ids: Set<string> }[],
  done: () => boolean,
): Promise<void> {
  let etag = "";
  while (!done()) {
    const { status, headers, body } = await get(port, dumpUrl, {
      Authorization: `Bearer ${key}`,
      "Accept-Encoding": "gzip",
      "If-None-Match": etag,
    });
    const at = Date.now();
    if (status === 200) {
      etag = headers["etag"] ?? "";
      dumps.push({ at, ids: idsWithMarks(await unzip(body)) });
    }
    await sleep(lookMs);
  }
}

function idsWithMarks(json: Buffer): Set<string> {
  const { stations } = JSON.parse(json.toString()) as {
    stations: { id: string; fuel: { status: string; pending_status: string } }[];
  };
  const marked = stations.filter(
    ({ fuel }) => fuel.status !== "nodata" || fuel.pending_status !== "",
  );
  return new Set(marked.map(({ id }) => id));
}

async function readDelay({ server, delay }: WatchedWeb): Promise<LoopDelay> {
  const before = delay();
  process.kill(server.pid, "SIGUSR2");
  for (let waited = 0; waited < 5000; waited += 20) {
    const now = delay();
    if (now !== null && now !== before) return now;
    await sleep(20);
  }
  throw new Error("the web process did not tell its event-loop delay");
}
