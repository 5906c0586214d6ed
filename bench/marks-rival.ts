import { readFileSync } from "node:fs";
import { connect, createServer, type Server as Proxy } from "node:net";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import type { Country } from "#bench/country.ts";
import { openConnection } from "#bench/load/connection.ts";
import { createForward } from "#bench/load/forward.ts";
import {
  asAdmin,
  cellsOf,
  measure,
  prepare,
  ratioOf,
  type Results,
  settingsOf,
  type Side,
} from "#bench/marks.ts";
import { createCpuMeter, startServer } from "#bench/processes.ts";
import { median, verdict } from "#bench/results.ts";
import { openServers } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";

interface Options {
  rounds: number;
  seconds: number;
  clients: readonly number[];
  quick: boolean;
  /** The built folder of another commit. */
  before: string | undefined;
  profileTo?: string;
}

const stationCount = 3000;
/** Goals: of the rival's rate, by clients; and p99 with most clients, of the build before. */
const goals = new Map([
  [1, 0.35],
  [16, 0.75],
  [64, 1.3],
]);
const p99Goal = 0.7;

/**
 * Marks of new users about random stations: this build, with `before` also another one, and the least that a service of
 * marks does, in turns; then where the time of a lone mark goes. Answers the section of results.md.
 */
export async function benchMarksRival({ quick, before, ...asked }: Options): Promise<string> {
  const options = quick ? { ...asked, rounds: 1, seconds: 2 } : asked;
  const loadBefore = loadavg()[0]!.toFixed(1);
  const { folder, servers, close } = await openServers();
  const builds = new Map([["now", resolve(".")]]);
  if (before !== undefined) builds.set("before", resolve(before));
  const sideNames = [...builds.keys(), "lean"];
  const names = sideNames.map((name) => `fuelmark_bench_${process.pid}_${name}`);
  const sides: Side[] = [];
  const stopAll = async (): Promise<void> => {
    await Promise.all(sides.flatMap(({ processes }) => processes.map((one) => one.stop())));
    sides.length = 0;
  };
  try {
    const size = { stationCount, users: 0 };
    const { databaseUrl, redisUrl } = servers;
    const { urls, version } = await prepare(databaseUrl, redisUrl, folder, names, size);
    const start = async (
      index: number,
      through = async (url: string, _role: string): Promise<string> => url,
    ): Promise<Side> => {
      const [name, port] = [sideNames[index]!, await somePort()];
      const side: Side = { name, port, processes: [] };
      sides.push(side);
      const build = builds.get(name);
      const commands =
        build === undefined
          ? [["lean", ["node", "--import", "tsx", "bench/rivals/lean-marks.ts"]] as const]
          : (["web", "marks"] as const).map((role) => [role, commandIn(build, role)] as const);
      for (const [role, command] of commands) {
        const [database, redis] = [
          await through(urls[index]!, role),
          await through(redisUrl, role),
        ];
        const env = settingsOf(names[index]!, database, redis, port);
        side.processes.push(await startServer(command, env, asked.profileTo));
      }
      return side;
    };
    for (const index of sideNames.keys()) await start(index);
    const cpu = await createCpuMeter(databaseUrl, redisUrl);
    const countryFile = join(folder, "country.json");
    const results = await measure(sides, options, cpu, countryFile);
    await stopAll();
    const country = JSON.parse(readFileSync(countryFile, "utf8")) as Country;
    const hops = new Map<string, Stage[]>();
    for (const [index, name] of [...builds.keys()].entries()) {
      const recorder = createRecorder();
      const { port } = await start(index, recorder.through);
      hops.set(name, await followLone(recorder, port, country, quick ? 50 : 400));
      await stopAll();
      recorder.close();
    }
    return report(results, hops, options, before, `Postgres ${version}, load ${loadBefore}`);
  } finally {
    await stopAll();
    await asAdmin(servers.databaseUrl, async (admin) => {
      for (const name of names) await admin.query(`drop database if exists ${name} with (force)`);
    });
    await close();
  }
}

/** The command of a role's Procfile line, for the bundle in this folder. */
const commandIn = (folder: string, role: string): string[] =>
  readProcfile(folder)
    .get(role)!
    .map((word) => (word.startsWith("dist/") ? join(folder, word) : word));

/** A piece that a process has sent to a server, or got from it: "web→postgres", "postgres→web". */
interface Piece {
  at: number;
  way: string;
}

/** Proxies between processes and their servers that note when each piece passes, all by one clock. */
function createRecorder() {
  const pieces: Piece[] = [];
  const proxies: Proxy[] = [];
  return {
    pieces,
    /** The address of a new proxy for this role. */
    async through(url: string, role: string): Promise<string> {
      const { protocol, hostname, port: serverPort } = new URL(url);
      const server = protocol.startsWith("redis") ? "redis" : "postgres";
      const proxy = createServer({ noDelay: true }, (near) => {
        const far = connect({ host: hostname, port: Number(serverPort), noDelay: true });
        near.on("data", () => pieces.push({ at: performance.now(), way: `${role}→${server}` }));
        far.on("data", () => pieces.push({ at: performance.now(), way: `${server}→${role}` }));
        for (const [one, other] of [[near, far] as const, [far, near] as const])
          one.pipe(other).on("error", () => one.destroy());
      });
      proxies.push(proxy);
      const port = await somePort();
      proxy.listen(port, "127.0.0.1");
      const its = new URL(url);
      its.host = `127.0.0.1:${port}`;
      return its.href;
    },
    close: () => proxies.forEach((proxy) => proxy.close()),
  };
}

/** A part of a lone mark's way: µs, and the times that a process asked a server meanwhile. */
interface Stage {
  name: string;
  us: number;
  asked: string;
}

/** Sends marks one after another, with pauses, and says where their time went: medians. */
async function followLone(
  { pieces }: ReturnType<typeof createRecorder>,
  port: number,
  country: Country,
  count: number,
): Promise<Stage[]> {
  const next = createForward(country, 7);
  const { send, close } = await openConnection("127.0.0.1", port);
  const ways: (readonly [name: string, from: number, to: number, pieces: Piece[]])[][] = [];
  for (let n = 0; n < count; n += 1) {
    const request = next(`127.0.0.1:${port}`).replaceAll(/"(?:new|mark)-/g, (word) =>
      word.toUpperCase(),
    );
    pieces.length = 0;
    const from = performance.now();
    const { status } = await send(request);
    const to = performance.now();
    const all = [...pieces];
    await new Promise((later) => setTimeout(later, 20));
    const at = (way: string, after: number): number | undefined =>
      all.find((piece) => piece.way === way && piece.at > after)?.at;
    const intake = at("web→postgres", from);
    const work = at("marks→postgres", intake ?? to);
    const stored = all.findLast(({ way, at: when }) => way === "postgres→web" && when < work!)?.at;
    const told = at("postgres→web", work ?? to);
    if (n < 20 || status !== 200 || !intake || !work || !stored || !told) continue;
    const cut = (name: string, start: number, end: number) =>
      [name, start, end, all.filter((piece) => piece.at >= start && piece.at < end)] as const;
    ways.push([
      cut("request read, checks, limits", from, intake),
      cut("intake: facts, store, commit", intake, stored),
      cut("wake-up of the worker", stored, work),
      cut("worker: states, save, commit", work, told),
      cut("change read, applied, answered", told, to),
      cut("in all", from, to),
    ]);
  }
  close();
  return (ways[0] ?? []).map(([name], i) => {
    const same = ways.map((way) => way[i]!);
    const asked = ["web→redis", "web→postgres", "marks→redis", "marks→postgres"].map((way) =>
      median(same.map(([, , , some]) => some.filter((piece) => piece.way === way).length)),
    );
    return {
      ...{ name, us: median(same.map(([, from, to]) => (to - from) * 1000)) },
      asked: asked.join(" / "),
    };
  });
}

function report(
  results: Results,
  hops: ReadonlyMap<string, readonly Stage[]>,
  { rounds, seconds, clients }: Pick<Options, "rounds" | "seconds" | "clients">,
  before: string | undefined,
  servers: string,
): string {
  const lines = [...results].flatMap(([count, all]) =>
    [...all].map(([name, side]) => {
      const ratio = name === "lean" ? "" : ratioOf(side, all.get("lean")!).toFixed(2);
      const goal = name === "now" ? goals.get(count) : undefined;
      const judged = goal === undefined ? "" : `≥ ${goal}: ${verdict(Number(ratio) >= goal)}`;
      return `| ${[count, name, ...cellsOf(side), ratio, judged].join(" | ")} |`;
    }),
  );
  const most = results.get(Math.max(...clients))!;
  const former = most.get("before");
  const p99 = former && ratioOf(most.get("now")!, former, (round) => round.p99);
  const stages = [...hops.values()][0] ?? [];
  const rows = stages.map(({ name }, i) =>
    [name, ...[...hops.values()].flatMap((one) => [one[i]!.us.toFixed(0), one[i]!.asked])].join(
      " | ",
    ),
  );
  const heads = [...hops.keys()].flatMap((name) => [`${name}: µs`, "asked"]);
  return `A mark of a new user about a random one of ${stationCount} stations: one \`web\` and one \`marks\` process of this build ("now")${before === undefined ? "" : ' and of an earlier one ("before")'}, against one Koa process with one transaction a mark, without keys, limits and rules ("lean", \`bench/rivals/lean-marks.ts\`). Each has a database of its own in one Postgres.

| clients | side | marks/s | p50 ms | p99 ms | CPU ms a mark (Node + Postgres and Redis) | of lean | goal |
|---|---|---|---|---|---|---|---|
${lines.join("\n")}

${p99 === undefined ? "" : `p99 with ${Math.max(...clients)} clients: ${p99.toFixed(2)} of before; goal ≤ ${p99Goal}: ${verdict(p99 <= p99Goal)}.\n\n`}Where the time of a lone mark goes, medians, through proxies that note each piece between processes and servers. "asked": pieces that web sent to Redis / web to Postgres / marks to Redis / marks to Postgres.

| hop | ${heads.join(" | ")} |
|${"---|".repeat(heads.length + 1)}
${rows.map((row) => `| ${row} |`).join("\n")}

${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, \`npm run bench -- marks-rival --rounds ${rounds} --seconds ${seconds} --clients ${clients.join(",")}${before === undefined ? "" : " --before FOLDER"}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, ${servers}. Medians of ${rounds} rounds in turns; ratios are medians of each round's. The load generator shares the cores.`;
}
