import { readFileSync } from "node:fs";
import type { Country } from "#bench/country.ts";
import { type Connection, openConnection } from "#bench/load/connection.ts";
import { createForward } from "#bench/load/forward.ts";
import { serveJobs } from "#bench/load/serve-jobs.ts";
import { type Summary, summaryOf } from "#bench/load/summary.ts";

/** One stretch of load, as the benchmark asks for it over IPC. */
export interface Job {
  /** Whose users go on being used up: each side has a database of its own. */
  side: string;
  port: number;
  clients: number;
  seconds: number;
}

export interface Measured extends Summary {
  /** Answers by status. */
  statuses: Record<string, number>;
  /** An answer that was not 200, to look at. */
  odd: string | null;
}

// The load generator: a process of its own, which sends as many requests at once as there are clients.
const country = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Country;
const forwards = new Map<string, ReturnType<typeof createForward>>();

serveJobs(run);

async function run({ side, port, clients, seconds }: Job): Promise<Measured> {
  const next = forwards.get(side) ?? createForward(country, 1);
  forwards.set(side, next);
  const host = `127.0.0.1:${port}`;
  const connections = await Promise.all(
    Array.from({ length: clients }, () => openConnection("127.0.0.1", port)),
  );
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let odd: string | null = null;
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  const client = async (connection: Connection): Promise<void> => {
    for (let at = performance.now(); at < endAt; at = performance.now()) {
      const { status, body } = await connection.send(next(host));
      latencies.push(performance.now() - at);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) odd ??= body.slice(0, 300);
    }
  };
  await Promise.all(connections.map(client));
  const summary = summaryOf(latencies, startedAt);
  connections.forEach((connection) => connection.close());
  return {
    ...summary,
    statuses,
    odd,
  };
}
