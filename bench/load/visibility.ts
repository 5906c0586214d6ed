import { setTimeout as sleep } from "node:timers/promises";
import type { Country } from "#bench/country.ts";
import { createForward } from "#bench/load/forward.ts";
import { serveJobs } from "#bench/load/serve-jobs.ts";
import { openPool, steadily } from "#bench/load/steady.ts";

/** Marks at a steady rate into one process, watched in another. */
export interface VisibilityJob {
  /** Its stations have no status and no marks before. */
  country: Country;
  postTo: number;
  watch: number;
  perSecond: number;
  seconds: number;
}

export interface Sample {
  id: string;
  /** When its request was sent, ms since the epoch. */
  sentAt: number;
  /** ms until `/stations` of the other process showed it; null: not within ten seconds. */
  visibleMs: number | null;
}

export interface Watched {
  sent: number;
  statuses: Record<string, number>;
  samples: Sample[];
}

const sampleEvery = 5;
const lookEveryMs = 10;
const patienceMs = 10_000;
const around = 0.0001;

serveJobs(run);

async function run({
  country,
  postTo,
  watch,
  perSecond,
  seconds,
}: VisibilityJob): Promise<Watched> {
  const next = createForward(country, 3);
  const places = new Map(country.stations.map((one) => [one.id, one]));
  const posting = openPool(postTo);
  const looking = openPool(watch);
  const statuses: Record<string, number> = {};
  const samples: Sample[] = [];
  let sent = 0;

  const look = async (id: string): Promise<number | null> => {
    const { lat, lon } = places.get(id)!;
    const box = [lat - around, lon - around, lat + around, lon + around].map((x) => x.toFixed(6));
    const path = `/api/v1/partner/stations?bbox=${box.join(",")}`;
    const key = country.keys[sent % country.keys.length];
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const startedAt = performance.now();
    while (performance.now() - startedAt < patienceMs) {
      const { body } = await looking.send(head);
      const tookMs = performance.now() - startedAt;
      if (shows(body, id)) return tookMs;
      await sleep(lookEveryMs);
    }
    return null;
  };
  const mark = async (n: number): Promise<void> => {
    sent += 1;
    const request = next(`127.0.0.1:${postTo}`);
    const id = /stations\/([^/]+)\//.exec(request)![1]!;
    const sample: Sample = { id, sentAt: Date.now(), visibleMs: null };
    const seen = n % sampleEvery === 1 ? look(id) : null;
    const { status, body } = await posting.send(request);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (seen === null) return;
    sample.visibleMs = await seen;
    // What a reviewer has to see first is rightly not shown.
    if (status === 200 && !body.includes('"outcome":"held"')) samples.push(sample);
  };

  await steadily(perSecond, seconds, mark);
  posting.close();
  looking.close();
  return { sent, statuses, samples };
}

interface Fuel {
  status: string;
  pending_status: string;
}

function shows(body: string, id: string): boolean {
  const { stations } = JSON.parse(body) as { stations: { id: string; fuel: Fuel }[] };
  const fuel = stations.find((one) => one.id === id)?.fuel;
  return fuel !== undefined && (fuel.status !== "nodata" || fuel.pending_status !== "");
}
