import fc from "fast-check";
import { type Drawn, goodRequests } from "#test/fuzz/requests.ts";
import { scrambles } from "#test/fuzz/scramble.ts";
import { spoiltRequests } from "#test/fuzz/spoil.ts";
import { bytesOf } from "#test/fuzz/bytes.ts";
import { exchange } from "#test/harness/wire.ts";
import type { OpenApi } from "#test/harness/contract.ts";
import { serveJobs } from "#bench/load/serve-jobs.ts";

/** One stretch of requests drawn from the OpenAPI document, a connection each. */
export interface FuzzJob {
  port: number;
  seconds: number;
  clients: number;
  /** Requests that fit the document; the same with one thing wrong and with changed bytes. */
  kind: "fitting" | "fuzz";
  document: OpenApi;
  stationIds: string[];
  keys: Record<Drawn["key"], string>;
  /** Requests that are drawn beforehand and sent in turn. */
  drawn: number;
  seed: number;
}

export interface FuzzMeasured {
  requests: number;
  seconds: number;
  /** Answers by status; "none" where the server waits for more. */
  statuses: Record<string, number>;
}

serveJobs(run);

/** The first job of a kind, a warm-up, draws; the others send the same. */
const drawnOnce: Partial<Record<FuzzJob["kind"], ReturnType<typeof draw>>> = {};

async function run(job: FuzzJob): Promise<FuzzMeasured> {
  const prepared = (drawnOnce[job.kind] ??= draw(job));
  const statuses: Record<string, number> = {};
  let sent = 0;
  const startedAt = performance.now();
  const endAt = startedAt + job.seconds * 1000;
  const client = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const { bytes, method } = prepared[sent++ % prepared.length]!;
      const { answers } = await exchange(job.port, bytes, method, { patienceMs: 1000 });
      const status = String(answers[0]?.status ?? "none");
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: job.clients }, client));
  return { requests: sent, seconds: (performance.now() - startedAt) / 1000, statuses };
}

function draw(job: FuzzJob): { bytes: Buffer; method: string }[] {
  const good = goodRequests(job.document, { stationIds: job.stationIds });
  const sized = (part: number) => ({ numRuns: Math.ceil(job.drawn * part), seed: job.seed });
  const ready = (one: Drawn): { bytes: Buffer; method: string } => ({
    bytes: bytesOf(one, `Bearer ${job.keys[one.key]}`),
    method: one.method,
  });
  if (job.kind === "fitting") return fc.sample(good, sized(1)).map(ready);
  const spoilt = fc.sample(spoiltRequests(good), sized(0.7)).map(ready);
  const scrambled = fc.sample(fc.tuple(good, scrambles), sized(0.3)).map(([one, scramble]) => ({
    bytes: scramble(ready(one).bytes),
    method: one.method,
  }));
  return [...spoilt, ...scrambled].sort((a, b) => (a.bytes.length % 97) - (b.bytes.length % 97));
}
