import { randomBytes } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { addPartners } from "#bench/country.ts";
import type { FuzzJob, FuzzMeasured } from "#bench/load/fuzz.ts";
import { openConnection } from "#bench/load/connection.ts";
import { startGenerator, startServer } from "#bench/processes.ts";
import { fillReadCountry } from "#bench/reads/country.ts";
import { openStage } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { createDb, inTransaction } from "#src/infrastructure/db.ts";
import { storeKey } from "#src/keys/issued-keys.ts";
import { hashKey, keyPrefix, newKey } from "#src/keys/key-text.ts";
import type { OpenApi } from "#test/harness/contract.ts";

const stationCount = 30_000;
/** The well-behaved client: one station, this many requests a second. */
const politePerSecond = 20;
const clients = 8;
const drawn = 3000;

const states = ["alone", "fitting", "fuzz"] as const;
type State = (typeof states)[number];
interface Round {
  latencies: number[];
  load: FuzzMeasured | null;
}

/**
 * What the fuzzer does to a well-behaved client of the same process: its latency alone, beside requests that fit the
 * OpenAPI document, and beside the fuzzer, in turns. Answers the section of results.md.
 */
export async function benchFuzz({ quick }: { quick: boolean }): Promise<string> {
  const rounds = quick ? 1 : 5;
  const seconds = quick ? 2 : 6;
  const port = await somePort();
  const stage = await openStage({ PORT: String(port) });
  const { config, settings } = stage;
  try {
    console.log("Filling the country");
    const country = await fillReadCountry(config, stationCount);
    const keys = await addKeys(config);
    for (const role of ["marks", "web"]) {
      const server = await startServer(readProcfile().get(role)!, settings);
      stage.onClose(() => server.stop());
    }
    const described = await fetch(`http://127.0.0.1:${port}/api/v1/partner/openapi.json`);
    const document = (await described.json()) as OpenApi;
    const generator = startGenerator<FuzzJob, FuzzMeasured>("fuzz");
    stage.onClose(() => generator.stop());
    const stationIds = country.stations.slice(0, 200).map(({ id }) => id);
    const request = `GET /api/v1/partner/stations/${stationIds[0]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${country.keys[0]}\r\n\r\n`;

    const loadBefore = loadavg();
    const results: Record<State, Round[]> = { alone: [], fitting: [], fuzz: [] };
    for (let round = -1; round < rounds; round++) {
      for (const state of states) {
        let over = false;
        const polite = politeClient(port, request, () => over);
        const job = { port, seconds, clients, document, stationIds, keys, drawn, seed: 1 };
        const load =
          state === "alone"
            ? await new Promise<null>((done) => setTimeout(() => done(null), seconds * 1000))
            : await generator.run({ ...job, kind: state });
        over = true;
        const latencies = await polite;
        // The first round warms up.
        if (round >= 0) results[state].push({ latencies, load });
        console.log(`${state}: p99 ${percentile(latencies, 0.99).toFixed(1)} ms`);
      }
    }
    return report(results, rounds, seconds, loadBefore);
  } finally {
    await stage.close();
  }
}

/** A partner with a key of each kind for the fuzzer; the polite client is another partner. */
async function addKeys(config: Config): Promise<FuzzJob["keys"]> {
  const db = createDb(config, "bench");
  const [partner] = await addPartners(db, 1);
  const publishable = newKey("publishable", randomBytes(32));
  const row = { kind: "publishable" as const, prefix: keyPrefix(publishable) };
  await inTransaction(db, (tx) =>
    storeKey(tx, { ...row, partner_id: partner!.id, hash: hashKey(publishable) }, {}),
  );
  await db.destroy();
  return { secret: partner!.key, publishable };
}

/** Asks at even distances on one connection; a late answer delays no later request's due time. Latencies in ms. */
async function politeClient(port: number, request: string, over: () => boolean): Promise<number[]> {
  const connection = await openConnection("127.0.0.1", port);
  const latencies: number[] = [];
  const startedAt = performance.now();
  for (let n = 0; !over(); n++) {
    const due = startedAt + (n * 1000) / politePerSecond;
    const waitMs = due - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const askedAt = Math.max(due, performance.now() - 1000 / politePerSecond);
    const { status } = await connection.send(request);
    if (status !== 200) throw new Error(`the polite client got ${status}`);
    latencies.push(performance.now() - askedAt);
  }
  connection.close();
  return latencies;
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * part))
  ] ?? Number.NaN;

const titles: Record<State, string> = {
  alone: "alone",
  fitting: "beside requests that fit the document",
  fuzz: "beside the fuzzer",
};

function report(
  results: Record<State, Round[]>,
  rounds: number,
  seconds: number,
  loadBefore: readonly number[],
): string {
  const lines = states.map((state) => {
    const all = results[state].flatMap(({ latencies }) => latencies);
    const loads = results[state].flatMap(({ load }) => (load === null ? [] : [load]));
    const rate =
      loads.reduce((sum, { requests }) => sum + requests, 0) /
      loads.reduce((sum, { seconds: took }) => sum + took, 0);
    const ms = (part: number): string => percentile(all, part).toFixed(1);
    return `| ${titles[state]} | ${loads.length === 0 ? "" : Math.round(rate)} | ${ms(0.5)} | ${ms(0.99)} | ${Math.max(...all).toFixed(1)} | ${all.length} |`;
  });
  const statuses = new Map<string, number>();
  for (const { load } of results.fuzz)
    for (const [status, n] of Object.entries(load?.statuses ?? {}))
      statuses.set(status, (statuses.get(status) ?? 0) + n);
  const counted = [...statuses].sort().map(([status, n]) => `${status} × ${n}`);
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `A client that reads one station ${politePerSecond} times a second, and ${clients} connections that send requests drawn from the OpenAPI document to the same web process as fast as it answers, a connection each.

| the polite client | others' req/s | p50 ms | p99 ms | longest ms | requests |
|---|---|---|---|---|---|
${lines.join("\n")}

The fuzzer's answers: ${counted.join(", ")} (none: the server waits for more).

${at} UTC, \`npm run bench -- fuzz\`, ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}; load average ${loadBefore.map((one) => one.toFixed(1)).join(" ")} before. ${rounds} rounds of ${seconds} s in turns; ${stationCount} stations. Server, fuzzer, Postgres and Redis share the cores.`;
}
