import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { fillCountry } from "#bench/country.ts";
import type { Measured } from "#bench/load/main.ts";
import {
  createCpuMeter,
  type CpuMeter,
  type Server,
  startLoad,
  startServer,
} from "#bench/processes.ts";
import { median } from "#bench/results.ts";
import { openServers } from "#bench/stage.ts";
import { release } from "#demo/release.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { loadConfig } from "#src/infrastructure/config.ts";

export interface MarksOptions {
  rounds: number;
  seconds: number;
  clients: readonly number[];
  /** A folder for a CPU profile of each server process. */
  profileTo?: string;
  /** Compares Fuelmark with itself under these settings instead. */
  against?: Record<string, string>;
}

export interface Side {
  name: string;
  port: number;
  processes: Server[];
}

export interface Round extends Measured {
  /** CPU ms of our or the rival's own processes, and of Postgres and Redis. */
  nodeMs: number | null;
  serversMs: number | null;
}

/**
 * POST …/report through one web and one marks process, against the same transaction in the handler without a
 * queue, in turns on the same servers with fsync on. Answers the section of results.md.
 */
export async function benchMarks(options: MarksOptions): Promise<string> {
  const { folder, servers, close } = await openServers();
  const sides: Side[] = [];
  const loadBefore = loadavg()[0]!.toFixed(1);
  const names = ["ours", "rival"].map((name) => `fuelmark_bench_${process.pid}_${name}`);
  try {
    const { urls, version } = await prepare(servers.databaseUrl, servers.redisUrl, folder, names);
    // The rival finds a station's neighbours in the database, not in memory.
    await asAdmin(urls[1]!, (admin) => admin.query("create index on stations (lat, lon)"));
    const procfile = readProcfile();
    const env = (index: number, port: number): Record<string, string> =>
      settingsOf(names[index]!, urls[index]!, servers.redisUrl, port);
    const start = async (
      name: string,
      commands: (readonly string[])[],
      settings: Record<string, string> = {},
    ) => {
      const port = await somePort();
      const side: Side = { name, port, processes: [] };
      const itsEnv = { ...env(sides.push(side) - 1, port), ...settings };
      for (const command of commands)
        side.processes.push(await startServer(command, itsEnv, options.profileTo));
      return side;
    };
    const product = [procfile.get("web")!, procfile.get("marks")!];
    const ours = await start("Fuelmark", product);
    const rival =
      options.against === undefined
        ? await start("direct", [["node", "--import", "tsx", "bench/rivals/marks-direct.ts"]])
        : await start("changed", product, options.against);
    const cpu = await createCpuMeter(servers.databaseUrl, servers.redisUrl);
    const results = await measure([ours, rival], options, cpu, join(folder, "country.json"));
    return report(
      results,
      options,
      `Postgres ${version}, load average before the start ${loadBefore}`,
    );
  } finally {
    await Promise.all(sides.flatMap((side) => side.processes.map((process) => process.stop())));
    await asAdmin(servers.databaseUrl, async (admin) => {
      for (const name of names) await admin.query(`drop database if exists ${name} with (force)`);
    });
    await close();
  }
}

const pepper = randomBytes(16).toString("hex");

/** The settings of a side's processes. */
export const settingsOf = (
  name: string,
  databaseUrl: string,
  redisUrl: string,
  port: number,
): Record<string, string> => ({
  ...{ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, REDIS_PREFIX: `{bench-${name}}` },
  ...{ REPORTER_PEPPER: pepper, NEW_REPORTERS_DAILY: "1000000" },
  ...{ HOST: "127.0.0.1", PORT: String(port) },
});

/** Equal databases of these names; the country goes to a file for the load generator. */
export async function prepare(
  adminUrl: string,
  redisUrl: string,
  folder: string,
  names: string[],
  size?: { stationCount: number; users: number },
): Promise<{ urls: string[]; version: string }> {
  const urls = names.map((name) => {
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    return url.href;
  });
  await asAdmin(adminUrl, (admin) => admin.query(`create database ${names[0]}`));
  await release({ DATABASE_URL: urls[0]!, REDIS_URL: redisUrl });
  console.log("Filling the country");
  const env = { DATABASE_URL: urls[0]!, REDIS_URL: redisUrl, REPORTER_PEPPER: pepper };
  const country = await fillCountry(loadConfig(env), 8, size);
  writeFileSync(join(folder, "country.json"), JSON.stringify(country));
  for (const copy of names.slice(1))
    await asAdmin(adminUrl, (admin) => admin.query(`create database ${copy} template ${names[0]}`));
  const version = await asAdmin(adminUrl, async (admin) => {
    await admin.query("checkpoint");
    const found = await admin.query<{ server_version: string; fsync: string }>(
      "select current_setting('server_version') as server_version, current_setting('fsync') as fsync",
    );
    return `${found.rows[0]!.server_version.split(" ")[0]}, fsync ${found.rows[0]!.fsync}`;
  });
  return { urls, version };
}

/** The rounds of each side, by its name, for each number of clients. */
export type Results = Map<number, Map<string, Round[]>>;

/** Loads the sides in turns. */
export async function measure(
  sides: readonly Side[],
  { rounds, seconds, clients }: Pick<MarksOptions, "rounds" | "seconds" | "clients">,
  cpu: CpuMeter,
  countryFile: string,
): Promise<Results> {
  const load = startLoad(countryFile);
  const run = async (side: Side, clientCount: number, forSeconds: number): Promise<Round> => {
    const used = () => [
      cpu.of(side.processes.map((process) => process.pid)),
      sum(cpu.postgres(), cpu.redis()),
    ];
    const before = used();
    const measured = await load.run({
      side: side.name,
      port: side.port,
      pace: { clients: clientCount },
      seconds: forSeconds,
    });
    // A side that refuses is fast, and its figures mean nothing.
    if (measured.odd !== null)
      throw new Error(
        `${side.name} answered ${JSON.stringify(measured.statuses)}: ${measured.odd}`,
      );
    const after = used();
    const [nodeMs, serversMs] = after.map((ms, i) =>
      ms === null || before[i] == null ? null : ms - before[i],
    );
    return { ...measured, nodeMs: nodeMs ?? null, serversMs: serversMs ?? null };
  };
  try {
    for (const side of sides) await run(side, 16, 3);
    const results: Results = new Map();
    for (const count of clients) {
      const all = new Map(sides.map(({ name }) => [name, [] as Round[]]));
      results.set(count, all);
      for (let round = 0; round < rounds; round++) {
        // The order changes, so that none always comes after the dirty pages of the same other.
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          const one = await run(side, count, seconds);
          all.get(side.name)!.push(one);
          console.log(
            `${count} clients, ${side.name}: ${Math.round(rate(one))} req/s, p50 ${one.p50.toFixed(1)} ms, p99 ${one.p99.toFixed(1)} ms, ${JSON.stringify(one.statuses)}`,
          );
        }
      }
    }
    return results;
  } finally {
    load.stop();
  }
}

const sum = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? null : a + b;

export const rate = (round: Round): number => round.requests / round.seconds;

/** Marks a second, p50, p99, CPU of a mark: medians of the rounds, as cells of a table. */
export function cellsOf(side: readonly Round[]): string[] {
  const cpuOf = (which: "nodeMs" | "serversMs"): string => {
    const values = side.map((round) => (round[which] ?? Number.NaN) / round.requests);
    return values.some(Number.isNaN) ? "?" : median(values).toFixed(2);
  };
  return [
    String(Math.round(median(side.map(rate)))),
    median(side.map((round) => round.p50)).toFixed(1),
    median(side.map((round) => round.p99)).toFixed(1),
    `${cpuOf("nodeMs")} + ${cpuOf("serversMs")}`,
  ];
}

/** The median of the ratios of their rounds. */
export const ratioOf = (of: readonly Round[], to: readonly Round[], figure = rate): number =>
  median(of.map((round, i) => figure(round) / figure(to[i]!)));

function report(
  results: Results,
  { rounds, seconds, clients }: MarksOptions,
  postgres: string,
): string {
  const lines = [...results].flatMap(([count, all]) => {
    const [ours, rival] = [...all.values()] as [Round[], Round[]];
    return [
      `| ${[String(count), "Fuelmark", ...cellsOf(ours), ratioOf(ours, rival).toFixed(2)].join(" | ")} |`,
      `| ${["", "direct", ...cellsOf(rival), ""].join(" | ")} |`,
    ];
  });
  const statuses = new Set(
    [...results.values()].flatMap((all) =>
      [...all.values()].flat().flatMap((round) => Object.keys(round.statuses)),
    ),
  );
  return `\`POST …/report\`, authenticated and metered: one \`web\` and one \`marks\` process ("Fuelmark") against the same checks and the same mark in one transaction in the handler, without batches and queue ("direct", \`bench/rivals\`). 30,000 stations, 8 partners, each mark from another user, one user in 20 new, the others known for a month.

| clients | side | req/s | p50 ms | p99 ms | CPU ms a request (Node + Postgres and Redis) | ratio |
|---|---|---|---|---|---|---|
${lines.join("\n")}

${new Date().toISOString().slice(0, 10)}, \`npm run bench -- marks --rounds ${rounds} --seconds ${seconds} --clients ${clients.join(",")}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, ${postgres}. Medians of ${rounds} rounds in turns; the ratio is the median of each round's. The load generator shares the cores. Answers: ${[...statuses].join(", ")} only.
`;
}

export async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
