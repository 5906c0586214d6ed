import { cpus } from "node:os";
import type { Freshness } from "#bench/reads/fresh.ts";
import type { Results, Round } from "#bench/reads/rounds.ts";
import { median, verdict } from "#bench/results.ts";

export interface Found {
  results: Results;
  rounds: number;
  seconds: number;
  real: boolean;
  nginx: string | null;
  /** RSS of a web process in MB: when it has answered all cases, and with ten times the stations. */
  memory: { small: number; large: number; largeReady: number; largeCount: number };
  /** ms; with nothing else to do, and while marks arrived. */
  dumps: { idle: number[]; loaded: number[] };
  fresh: Freshness;
  marksPerSecond: number;
  loadBefore: number[];
  loadAfter: number[];
  loadEnd: number[];
  postgres: string;
  command: string;
}

/** The section of results.md. */
export function report(found: Found): string {
  const { results, rounds, seconds } = found;
  const rows = [...results].flatMap(([one, bySide]) => {
    const ours = bySide.get("Fuelmark")!;
    const oursFirst = [...bySide].toSorted(
      ([a], [b]) => Number(b === "Fuelmark") - Number(a === "Fuelmark"),
    );
    return oursFirst.map(([name, side], i) => {
      const ratio =
        name === "Fuelmark" ? null : median(side.map((r, n) => rate(ours[n]!) / rate(r)));
      const goal = one.goals.find(({ rival }) => rival === name)?.atLeast;
      const cells = [
        i === 0 ? one.name : "",
        name,
        kilobytes(side),
        perSecond(median(side.map(rate))),
        median(side.map(({ p50 }) => p50)).toFixed(1),
        median(side.map(({ p99 }) => p99)).toFixed(1),
        cpuOf(side),
        ratio === null ? "" : ratio.toFixed(2),
        goal === undefined || ratio === null ? "" : `≥ ${goal}: ${verdict(ratio >= goal)}`,
      ];
      return `| ${cells.join(" | ")} |`;
    });
  });
  return `Authenticated and metered, one \`web\` process beside the \`snapshots\` worker, 30,000 stations (${found.real ? "real ones, repeated with offsets" : "generated ones"}), 60 % with a status, ${clientsText}. "bare Koa": Koa with @koa/router that answers a constant, without a key; "raw Node": a bare Node server that writes the same bytes from memory; "gzip on the fly": the same, compressing our plain bytes at level 1 for each request; "Koa + knex": keys in memory, a GiST index on the points, \`JSON.stringify\`, unmetered${found.nginx === null ? "; nginx: skipped, there is none with gzip_static here" : `; "nginx": ${found.nginx}, one worker, the dump as a file by gzip_static`}. The ratio is Fuelmark's requests/s to that rival's.

| case | side | KB | req/s | p50 ms | p99 ms | CPU ms a request (own + Postgres and Redis) | ratio | goal |
|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

${others(found)}

${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, \`${found.command}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, ${found.postgres}; load average ${loadText(found.loadBefore)} before the rounds, ${loadText(found.loadAfter)} after them, ${loadText(found.loadEnd)} at the end. Medians of ${rounds} rounds of ${seconds} s in turns; the ratio is the median of each round's. The load generator shares the cores.
`;
}

const clientsText = "32 connections that take turns with the keys of 16 partners";

function others({ memory, dumps, fresh, marksPerSecond }: Found): string {
  const { loop, watched, reads, inStations, inDump, missing } = fresh;
  const ms = (value: number): string => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
  const quantile = (values: number[], q: number): number =>
    values[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.POSITIVE_INFINITY;
  const seen = (values: number[], lost: number): string =>
    `p50 ${ms(quantile(values, 0.5))}, p99 ${ms(quantile(values, 0.99))}, longest ${ms(values.at(-1) ?? Number.POSITIVE_INFINITY)} (${values.length} watched${lost > 0 ? `, ${lost} NOT SEEN` : ""})`;
  const line = (cells: string[]): string => `| ${cells.join(" | ")} |`;
  const worstDump = Math.max(...dumps.idle, ...dumps.loaded);
  const everyMark = `${marksPerSecond} marks/s into another process, ${Math.round(reads.requests / reads.seconds)} reads/s`;
  return [
    line(["also measured", "", "goal"]),
    "|---|---|---|",
    line([
      "memory (RSS) of a web process, 30,000 stations, after all cases",
      `${memory.small.toFixed(0)} MB`,
      "",
    ]),
    line([
      `the same, ${memory.largeCount.toLocaleString("en")} stations`,
      `${memory.large.toFixed(0)} MB (${memory.largeReady.toFixed(0)} MB when it had just read them)`,
      `< 300 MB: ${verdict(memory.large < 300)}`,
    ]),
    line([
      "dump built by the worker, gzip and brotli",
      `${dumps.idle.map(ms).join(", ")} alone; ${dumps.loaded.map(ms).join(", ")} while marks arrived`,
      `< 1 s: ${verdict(worstDump < 1000)}`,
    ]),
    line([
      `longest event-loop stall of a web process, ${everyMark} and each new dump`,
      `${ms(loop.longest)} (p99 ${ms(loop.p99)})`,
      `≤ 50 ms: ${verdict(loop.longest <= 50)}`,
    ]),
    line([
      `mark sent to visible in /stations of another process, ${everyMark}`,
      seen(inStations, missing.stations),
      `p99 ≤ 1 s: ${verdict(missing.stations === 0 && quantile(inStations, 0.99) <= 1000)}`,
    ]),
    line([
      "mark sent to visible in the dump",
      seen(inDump, missing.dump),
      `≤ 16 s: ${verdict(missing.dump === 0 && (inDump.at(-1) ?? Infinity) <= 16_000)}`,
    ]),
    "",
    `Marks: ${watched.sent} sent, answers ${Object.entries(watched.statuses)
      .map(([status, count]) => `${status} × ${count}`)
      .join(", ")}.`,
  ].join("\n");
}

const loadText = (load: number[]): string => load.map((one) => one.toFixed(1)).join(" ");
const rate = (round: Round): number => round.requests / round.seconds;
const kilobytes = (side: Round[]): string =>
  median(side.map(({ bytes, requests }) => bytes / requests / 1000)).toFixed(1);
const perSecond = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));

function cpuOf(side: Round[]): string {
  const of = (which: "ownMs" | "serversMs"): string => {
    const values = side.map((round) =>
      round[which] === null ? null : round[which] / round.requests,
    );
    return values.includes(null) ? "?" : median(values as number[]).toFixed(3);
  };
  return `${of("ownMs")} + ${of("serversMs")}`;
}
