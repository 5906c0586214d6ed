import { readFileSync } from "node:fs";
import type { Country } from "#bench/country.ts";
import { type Connection, openConnection } from "#bench/load/connection.ts";
import { createForward } from "#bench/load/forward.ts";
import { serveJobs } from "#bench/load/serve-jobs.ts";
import { openPool, steadily } from "#bench/load/steady.ts";
import { type Summary, summaryOf } from "#bench/load/summary.ts";

/** One stretch of load, as the benchmark asks for it over IPC. */
export interface Job {
  /** Whose users go on being used up: each side has a database of its own. */
  side: string;
  port: number;
  /** Requests at once, each client's one after the other; or at a steady rate, however many that are at once. */
  pace: { clients: number } | { perSecond: number };
  seconds: number;
}

export interface Measured extends Summary {
  /** Answers by status. */
  statuses: Record<string, number>;
  /** An answer that was not 200, to look at: if possible a refusal. */
  odd: string | null;
}

// The load generator of marks, a process of its own.
const country = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as Country;
const forwards = new Map<string, ReturnType<typeof createForward>>();

serveJobs(run);

async function run({ side, port, pace, seconds }: Job): Promise<Measured> {
  const next = forwards.get(side) ?? createForward(country, 1);
  forwards.set(side, next);
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let odd: string | null = null;
  const mark = async ({ send }: Pick<Connection, "send">): Promise<void> => {
    const request = next(`127.0.0.1:${port}`);
    const at = performance.now();
    const { status, body } = await send(request);
    latencies.push(performance.now() - at);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status >= 400 || (status !== 200 && odd === null)) odd = body.slice(0, 300);
  };
  const connections =
    "clients" in pace
      ? await Promise.all(
          Array.from({ length: pace.clients }, () => openConnection("127.0.0.1", port)),
        )
      : [openPool(port)];
  const startedAt = performance.now();
  if ("perSecond" in pace) await steadily(pace.perSecond, seconds, () => mark(connections[0]!));
  else {
    const endAt = startedAt + seconds * 1000;
    const client = async (connection: Pick<Connection, "send">): Promise<void> => {
      while (performance.now() < endAt) await mark(connection);
    };
    await Promise.all(connections.map(client));
  }
  const summary = summaryOf(latencies, startedAt);
  connections.forEach((connection) => connection.close());
  return { ...summary, statuses, odd };
}
