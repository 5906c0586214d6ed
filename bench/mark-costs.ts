import { existsSync, readdirSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openFilledStage } from "#bench/filled-stage.ts";
import { createCpuMeter, startServer } from "#bench/processes.ts";
import { readProcfile } from "#demo/roles.ts";
import { somePort } from "#demo/servers/port.ts";
import { startPostgres } from "#demo/servers/postgres.ts";
import { explainMarks, type Part } from "#bench/mark-costs/explain.ts";

interface Statement {
  text: string;
  calls: number;
  ms: number;
  buffers: number;
  walBytes: number;
}

/** What one number of clients costs, of each mark. */
interface Look {
  clients: number;
  marks: number;
  nodeMs: number;
  serversMs: number;
  statements: Statement[];
}

/**
 * What a mark costs: each statement in Postgres, each rule's part of the statements that read and write, and each room
 * of the code in Node. Answers the section of results.md.
 */
export async function benchMarkCosts({
  seconds,
  clients,
}: {
  seconds: number;
  clients: readonly number[];
}): Promise<string> {
  const folder = join(".data", `bench-costs-${process.pid}`);
  const postgres = await startCounting(folder);
  try {
    process.env["DATABASE_URL"] = postgres.url;
    const stage = await openFilledStage({}, { queryTimeoutMs: 600_000 });
    try {
      const { db, load, settings } = stage;
      await db.raw("create extension pg_stat_statements");
      const port = await somePort();
      const profiles = join(stage.folder, "profiles");
      const procfile = readProcfile();
      const servers: { role: string; pid: number; stop(): Promise<void> }[] = [];
      for (const role of ["web", "marks"]) {
        const env = { ...settings, PORT: String(port) };
        servers.push({ role, ...(await startServer(procfile.get(role)!, env, profiles)) });
      }
      const cpu = await createCpuMeter(settings.DATABASE_URL, settings.REDIS_URL);
      const used = (): [number, number] => [
        cpu.of(servers.map(({ pid }) => pid)) ?? 0,
        (cpu.postgres() ?? 0) + (cpu.redis() ?? 0),
      ];
      const loadBefore = loadavg()[0]!.toFixed(1);
      await load.run({ side: "Fuelmark", port, pace: { clients: 16 }, seconds: 3 });
      const looks: Look[] = [];
      let span = { from: 0, to: 0 };
      for (const count of clients) {
        await db.raw("select pg_stat_statements_reset()");
        const before = used();
        const from = process.hrtime.bigint();
        const pace = { clients: count };
        const { requests } = await load.run({ side: "Fuelmark", port, pace, seconds });
        span = { from: Number(from / 1000n), to: Number(process.hrtime.bigint() / 1000n) };
        const after = used();
        looks.push({
          ...{ clients: count, marks: requests, statements: await readStatements(db) },
          ...{ nodeMs: after[0] - before[0], serversMs: after[1] - before[1] },
        });
      }
      for (const { stop } of servers) await stop();
      const parts = await explainMarks(stage);
      const rooms = readRooms(profiles, span);
      return report(looks, parts, rooms, { seconds, clients, loadBefore });
    } finally {
      await stage.close();
    }
  } finally {
    await postgres.stop();
    postgres.remove();
  }
}

/** A Postgres that counts statements. */
async function startCounting(folder: string) {
  const options = { folder: join(folder, "postgres"), durable: true, log: console.log };
  const first = await startPostgres(options);
  const client = new pg.Client({ connectionString: first.url });
  await client.connect();
  await client.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
  await client.end();
  await first.stop();
  return startPostgres(options);
}

async function readStatements(db: { raw: (sql: string) => unknown }): Promise<Statement[]> {
  const { rows } = (await db.raw(
    `select regexp_replace(query, '\\s+', ' ', 'g') as text, calls::int, total_exec_time as ms,
       shared_blks_hit + shared_blks_read as buffers, wal_bytes::float8 as "walBytes"
     from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
     order by total_exec_time desc`,
  )) as { rows: Statement[] };
  return rows.filter(({ text }) => !text.includes("pg_stat_statements"));
}

const names: [pattern: RegExp, name: string][] = [
  [/^select pg_advisory_xact_lock\(.*scope/, "intake: lock partners"],
  [/^with clock as materialized/, "intake: read the facts"],
  [/^with m as materialized/, "intake: store marks, reporters, external ids"],
  [/lock_stations/, "worker: lock stations"],
  [/^select asked\.id as station_id, s\.state/, "worker: load stations and marks"],
  [/^with outcome as/, "worker: save outcomes, opinions, states"],
  [/feed_stamp/, "worker: stamp the change feed"],
  [/status_runs/, "worker: save status runs"],
  [/^select p\.id, .*stations/, "worker: count stations around the review's cities"],
  [/hashtext/, "worker: lock the review's counters"],
  [/^insert into review_changes/, "worker: store the review's changes"],
  [/review_changes/, "worker: read the review's changes"],
  [/harmful_changes/, "worker: count harmful changes"],
  [/feed_safe/, "web: read the time that is safe"],
  [/k\.partner_id from keys k/, "web: read outcomes"],
  [/c\.seq/, "web: read changes"],
  [/^commit/i, "commit"],
  [/^begin|^set local/i, "begin, with its settings"],
  [/expect_time/, "begin: compare the clocks"],
];
const others = "everything else: polls, sweeps, keys";
const nameOf = (text: string): string =>
  names.find(([pattern]) => pattern.test(text))?.[1] ?? others;

/** Time in Node by the file that works or calls what works, ms; a library is one name. */
function readRooms(
  folder: string,
  { from, to }: { from: number; to: number },
): Map<string, number> {
  const rooms = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    const profile = JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile;
    const byId = new Map(profile.nodes.map((node) => [node.id, node]));
    const parents = new Map(
      profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
    );
    const roomOf = (id: number): string => {
      const { functionName, url } = byId.get(id)!.callFrame;
      if (functionName === "(garbage collector)") return "garbage collection";
      if (functionName === "(idle)" || functionName === "(program)") return functionName;
      const file = sourceOf(byId.get(id)!.callFrame);
      if (file !== null) return file;
      const parent = parents.get(id);
      return parent === undefined ? url || functionName : roomOf(parent);
    };
    let at = profile.startTime;
    profile.samples.forEach((id, index) => {
      at += profile.timeDeltas[index]!;
      if (at < from || at > to) return;
      const room = roomOf(id);
      rooms.set(room, (rooms.get(room) ?? 0) + profile.timeDeltas[index]! / 1000);
    });
  }
  rooms.delete("(idle)");
  return rooms;
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}
interface Frame {
  functionName: string;
  url: string;
  lineNumber: number;
  columnNumber: number;
}

const maps = new Map<string, SourceMap | null>();

function sourceOf({ url, lineNumber, columnNumber }: Frame): string | null {
  if (!url.startsWith("file:")) return null;
  const file = fileURLToPath(url);
  if (!maps.has(file)) {
    // The bundler's own runtime has no map.
    const text = existsSync(`${file}.map`) ? readFileSync(`${file}.map`, "utf8") : null;
    maps.set(file, text === null ? null : new SourceMap(JSON.parse(text) as SourceMapPayload));
  }
  const entry = maps.get(file)?.findEntry(lineNumber, columnNumber);
  if (entry === undefined || !("originalSource" in entry)) return null;
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(entry.originalSource)?.[1];
  return library ?? entry.originalSource.replace(/^.*?((?:src|api|snapshots|workers)\/)/, "$1");
}

function report(
  looks: readonly Look[],
  parts: readonly Part[],
  rooms: ReadonlyMap<string, number>,
  run: { seconds: number; clients: readonly number[]; loadBefore: string },
): string {
  const merged = looks.map(({ statements, marks }) => {
    const byName = new Map<string, Omit<Statement, "text">>();
    for (const { text, ...one } of statements) {
      const sum = byName.get(nameOf(text)) ?? { calls: 0, ms: 0, buffers: 0, walBytes: 0 };
      byName.set(nameOf(text), {
        ...{ calls: sum.calls + one.calls, ms: sum.ms + one.ms },
        ...{ buffers: sum.buffers + one.buffers, walBytes: sum.walBytes + one.walBytes },
      });
    }
    return { marks, byName };
  });
  const all = [...names.map(([, name]) => name), others];
  const cellsOf = (name: string): string[] =>
    merged.flatMap(({ marks, byName }) => {
      const one = byName.get(name);
      if (one === undefined) return ["–", "–", "–", "–"];
      const each = (value: number, digits: number): string => (value / marks).toFixed(digits);
      return [each(one.calls, 2), each(one.ms, 3), each(one.buffers, 0), each(one.walBytes, 0)];
    });
  const head = run.clients.flatMap((count) => [`${count}: calls`, "ms", "pages", "bytes of WAL"]);
  const { marks, nodeMs } = looks.at(-1)!;
  const busy = [...rooms.values()].reduce((a, b) => a + b, 0);
  const folders = new Map<string, number>();
  for (const [file, ms] of rooms) {
    const folder = /^((?:src|api|snapshots|workers)\/.*)\/[^/]*$/.exec(file)?.[1] ?? file;
    folders.set(folder, (folders.get(folder) ?? 0) + ms);
  }
  const top = [...folders].toSorted((a, b) => b[1] - a[1]).filter(([, ms]) => ms / busy > 0.01);
  return `What a mark costs: \`POST …/report\` from so many clients for ${run.seconds} s each, through one \`web\` and one \`marks\` process; the marks of the section \`marks\`. Each figure is of one mark; statements of a batch are shared by its marks.

CPU of a mark, ms (Node + Postgres and Redis): ${looks.map((one) => `${one.clients} clients ${(one.nodeMs / one.marks).toFixed(2)} + ${(one.serversMs / one.marks).toFixed(2)}`).join(", ")}.

Statements in Postgres, by \`pg_stat_statements\`:

| statement | ${head.join(" | ")} |
|${"---|".repeat(head.length + 1)}
${all.map((name) => `| ${name} | ${cellsOf(name).join(" | ")} |`).join("\n")}

Parts of these statements, by \`explain (analyze, buffers)\`, the middle of ${parts[0]?.runs ?? 0} marks one by one ("no": 1 mark of 5); triggers are those of foreign keys and our own:

| statement | part | µs | pages |
|---|---|---|---|
${parts.map(({ statement, name, us, pages }) => `| ${nameOf(statement)} | ${name} | ${us.toFixed(0)} | ${pages.toFixed(0)} |`).join("\n")}

CPU of Node with ${run.clients.at(-1)} clients, ${(nodeMs / marks).toFixed(2)} ms a mark: shares of the two processes' busy time, by the room of the code that works or calls what works.

| room | share |
|---|---|
${top.map(([name, ms]) => `| \`${name}\` | ${((ms / busy) * 100).toFixed(1)} % |`).join("\n")}

${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, \`npm run bench -- mark-costs --seconds ${run.seconds} --clients ${run.clients.join(",")}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, load average before the start ${run.loadBefore}.`;
}
