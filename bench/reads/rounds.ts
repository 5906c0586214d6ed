import type { ReadJob, ReadMeasured } from "#bench/load/reads.ts";
import type { CpuMeter, Generator } from "#bench/processes.ts";
import { type Case, requestsOf, type SideName } from "#bench/reads/cases.ts";

export interface Side {
  name: SideName;
  port: number;
  pids: number[];
  /** Its own name of the dump, where it is not that of the cases. */
  etag?: string;
}

export interface Round extends ReadMeasured {
  /** CPU ms of the side's own processes, and of Postgres and Redis. */
  ownMs: number | null;
  serversMs: number | null;
}

export type Results = Map<Case, Map<SideName, Round[]>>;

const clients = 32;

/** All cases by all sides in turns: the figures of one round lie seconds apart. */
export async function measureRounds(
  cases: readonly Case[],
  sides: readonly Side[],
  load: Generator<ReadJob, ReadMeasured>,
  cpu: CpuMeter,
  { rounds, seconds, keys }: { rounds: number; seconds: number; keys: readonly string[] },
): Promise<Results> {
  const results: Results = new Map();
  const run = async (one: Case, side: Side): Promise<Round> => {
    const used = (): (number | null)[] => [cpu.of(side.pids), cpu.postgres(), cpu.redis()];
    const before = used();
    const measured = await load.run({
      port: side.port,
      clients,
      seconds,
      requests: requestsOf(
        one.ifNoneMatch === undefined || side.etag === undefined
          ? one
          : { ...one, ifNoneMatch: side.etag },
        side.name,
        keys,
      ),
    });
    const [own, postgres, redis] = used().map((ms, i) =>
      ms === null || before[i] == null ? null : ms - before[i],
    ) as [number | null, number | null, number | null];
    const serversMs = postgres === null || redis === null ? null : postgres + redis;
    return { ...measured, ownMs: own, serversMs };
  };
  for (let round = -1; round < rounds; round += 1) {
    for (const one of cases) {
      const taking = sides.filter(
        ({ name }) => ["Fuelmark", "before"].includes(name) || one.rivals.includes(name),
      );
      // Another begins each round, so that none always comes after the same.
      const order = taking.map((_, i) => taking[(i + round + 1) % taking.length]!);
      for (const side of order) {
        // The round that is not counted is as long as the others: code that has not run often yet is slow code.
        const measured = await run(one, side);
        check(one, side, measured);
        if (round < 0) continue;
        const bySide = results.get(one) ?? new Map<SideName, Round[]>();
        results.set(one, bySide.set(side.name, [...(bySide.get(side.name) ?? []), measured]));
        const rate = Math.round(measured.requests / measured.seconds);
        console.log(
          `${one.name}, ${side.name}: ${rate} req/s, ${cpuText(measured)}p99 ${measured.p99.toFixed(1)} ms, ${Math.round(measured.bytes / measured.requests)} bytes`,
        );
      }
    }
  }
  return results;
}

const cpuText = ({ ownMs, requests }: Round): string =>
  ownMs === null ? "" : `${((ownMs / requests) * 1000).toFixed(1)} µs of CPU, `;

/** A fast refusal must not pass for a fast answer. */
function check(one: Case, side: Side, { statuses }: ReadMeasured): void {
  const wanted = one.ifNoneMatch === undefined ? "200" : "304";
  if (Object.keys(statuses).some((status) => status !== wanted))
    throw new Error(`${one.name}, ${side.name}: answers ${JSON.stringify(statuses)}`);
}
