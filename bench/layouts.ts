import { cpus, loadavg } from "node:os";
import pg from "pg";
import { addMarks, firstOfDay, prepare } from "#bench/years.ts";
import { openFilledStage } from "#bench/filled-stage.ts";
import { median } from "#bench/results.ts";
import type { Statements } from "#src/infrastructure/db.ts";
import { dayMs } from "#src/domain/units.ts";
import { loadStationFacts } from "#src/marks/facts/station-facts.ts";
import { loadHistories } from "#src/marks/histories.ts";
import { firstIdOfDay } from "#src/marks/marks.ts";

const stations = 50;
const rounds = 9;
const batches = 40;
const batchMarks = 25;

interface Seen {
  ms: number;
  locks: number;
  /** Work for later, as Postgres counts it. */
  note?: string;
}

const layouts = ["days", "months"] as const;
type Layout = (typeof layouts)[number];
const tableOf: Record<Layout, string> = { days: "marks", months: "marks_by_month" };

/**
 * The same marks in partitions of a day and of a month, and the product's statements over both, in turns in one
 * database. Answers the section of results.md.
 */
export async function benchLayouts({ quick, marks }: { quick: boolean; marks: string }) {
  const days = quick ? 60 : 420;
  const count = quick ? 60_000 : Number(marks) * 1e6;
  const stage = await openFilledStage(
    { RETENTION_DAYS: String(days) },
    { partners: () => 8, queryTimeoutMs: 600_000 },
  );
  try {
    const client = new pg.Client({ connectionString: stage.settings.DATABASE_URL });
    await client.connect();
    stage.onClose(() => client.end());
    await prepare(client, days);
    await addMarks(client, days, 0, Math.round(count / days));
    await addMonths(client);
    const loadBefore = loadavg()[0]!.toFixed(1);
    const ids = await stationIds(client);
    const { config } = stage;
    const now = Date.now();
    const reads: [what: string, read: (tx: Statements) => Promise<unknown>][] = [
      [
        `history of ${stations} stations, all that is kept`,
        (tx) => loadHistories(tx, ids, 0, "processed"),
      ],
      [
        `the same, of the last 30 days`,
        (tx) => loadHistories(tx, ids, now - 30 * dayMs, "processed"),
      ],
      [
        `facts of ${stations} stations with waiting marks, as the worker loads them`,
        (tx) => loadStationFacts(tx, ids, { now }, config),
      ],
      [
        "number of unprocessed marks, without a list of days",
        (tx) => tx.raw("select count(*) from marks where processed_at is null", []) as never,
      ],
    ];
    const table = new Map<string, Record<Layout, Seen>>();
    for (const [what, read] of reads)
      table.set(what, await inTurns((layout) => watch(client, layout, read)));
    table.set(
      `${batchMarks} marks of today stored`,
      await inTurns((layout, round) => insert(client, layout, round)),
    );
    table.set("size", await inTurns((layout) => sizeOf(client, layout), 1));
    table.set("a day past its retention removed", {
      days: await dropDay(client, days),
      months: await deleteDay(client, days),
    });
    return report(table, { marks: count, days, quick, given: marks, loadBefore });
  } finally {
    await stage.close();
  }
}

/** A copy of the table of marks, by months. */
async function addMonths(client: pg.Client): Promise<void> {
  await client.query(`
    create table marks_by_month (like marks including all) partition by range (id);
    do $$
    declare
      d date := date_trunc('month', (select to_date(right(min(inhrelid::regclass::text), 8), 'YYYYMMDD')
        from pg_inherits where inhparent = 'marks'::regclass));
      last date := (select to_date(right(max(inhrelid::regclass::text), 8), 'YYYYMMDD')
        from pg_inherits where inhparent = 'marks'::regclass);
    begin
      while d <= last loop
        execute format('create table %I partition of marks_by_month for values from (%s) to (%s)',
          'marks_by_month_' || to_char(d, 'YYYYMM'), (d - date '1970-01-01')::bigint << 32,
          ((d + interval '1 month')::date - date '1970-01-01')::bigint << 32);
        d := d + interval '1 month';
      end loop;
    end $$;
    insert into marks_by_month select * from marks order by id`);
  await client.query("vacuum analyze marks_by_month");
}

async function stationIds(client: pg.Client): Promise<string[]> {
  const sql = "select id from stations order by md5(id) limit $1";
  const { rows } = await client.query<{ id: string }>(sql, [stations]);
  return rows.map(({ id }) => id);
}

/** Each layout in each round, the first one changing. */
async function inTurns(
  look: (layout: Layout, round: number) => Promise<Seen>,
  times = rounds,
): Promise<Record<Layout, Seen>> {
  const all: Record<Layout, Seen[]> = { days: [], months: [] };
  for (let round = 0; round < times; round += 1)
    for (const layout of round % 2 === 0 ? layouts : layouts.toReversed())
      all[layout].push(await look(layout, round));
  const middle = (seen: Seen[]): Seen => ({
    ...seen[0]!,
    ms: median(seen.map(({ ms }) => ms)),
    locks: Math.max(...seen.map(({ locks }) => locks)),
  });
  return { days: middle(all.days), months: middle(all.months) };
}

/** `read` in a transaction, whose statements about marks go to the layout's table. */
async function watch(
  client: pg.Client,
  layout: Layout,
  read: (tx: Statements) => Promise<unknown>,
): Promise<Seen> {
  const tx = {
    raw: (sql: string, bindings: readonly unknown[]) => {
      let n = 0;
      const text = sql
        .replaceAll(/\b(from|join) marks\b(?!_)/g, `$1 ${tableOf[layout]} marks`)
        .replaceAll("marks marks m", "marks m")
        .replaceAll("?", () => `$${(n += 1)}`);
      return client.query(text, [...bindings]);
    },
  } as unknown as Statements;
  await client.query("begin; set local enable_seqscan = off; set local jit = off");
  const at = performance.now();
  await read(tx);
  const ms = performance.now() - at;
  const locks = await locksOf(client);
  await client.query("rollback");
  return { ms, locks };
}

async function locksOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "select count(*)::int from pg_locks where pid = pg_backend_pid() and locktype = 'relation'",
  );
  return rows[0]!.count;
}

async function insert(client: pg.Client, layout: Layout, round: number): Promise<Seen> {
  const first = firstIdOfDay(Date.now()) + firstOfDay + 1e6 + round * batches * batchMarks;
  const sql = `insert into ${tableOf[layout]} (id, station_id, reporter_id, partner_id, key_id, source, status, received_at,
      effective_at, remote, needed, rule)
    select $1::bigint + n, (select id from places where places.n = n * 997), n, 1, 1, 'partner', 'yes', now(), now(),
      false, 1, 'geolocated' from generate_series(0, ${batchMarks - 1}) n`;
  let locks = 0;
  const at = performance.now();
  for (let n = 0; n < batches; n += 1) await client.query(sql, [first + n * batchMarks]);
  const ms = (performance.now() - at) / batches;
  await client.query("begin");
  await client.query(sql, [first + batches * batchMarks + 1e8]);
  locks = await locksOf(client);
  await client.query("rollback");
  return { ms, locks };
}

async function sizeOf(client: pg.Client, layout: Layout): Promise<Seen> {
  const { rows } = await client.query<{ tables: number; mb: string }>(
    `select count(*)::int as tables, sum(pg_total_relation_size(inhrelid)) / 1e6 as mb from pg_inherits
     where inhparent = '${tableOf[layout]}'::regclass`,
  );
  const { tables, mb } = rows[0]!;
  return { ms: 0, locks: 0, note: `${Number(mb).toFixed(0)} MB in ${tables} tables` };
}

async function dropDay(client: pg.Client, days: number): Promise<Seen> {
  const { rows } = await client.query<{ name: string }>(
    "select 'marks_' || to_char(current_date - $1::int, 'YYYYMMDD') as name",
    [days],
  );
  const { name } = rows[0]!;
  const at = performance.now();
  await client.query(`alter table marks detach partition ${name} concurrently`);
  await client.query(`drop table ${name}`);
  return { ms: performance.now() - at, locks: 9, note: "nothing is left to vacuum" };
}

async function deleteDay(client: pg.Client, days: number): Promise<Seen> {
  const from = firstIdOfDay(Date.now() - days * dayMs);
  const at = performance.now();
  await client.query("begin");
  const { rowCount } = await client.query(
    `delete from marks_by_month where id >= ${from} and id < ${firstIdOfDay(Date.now() - (days - 1) * dayMs)}`,
  );
  const locks = await locksOf(client);
  await client.query("commit");
  const ms = performance.now() - at;
  const name = `marks_by_month_${new Date(Date.now() - days * dayMs).toISOString().slice(0, 7).replace("-", "")}`;
  const vacuumAt = performance.now();
  await client.query(`vacuum ${name}`);
  const vacuumMs = performance.now() - vacuumAt;
  return {
    ...{ ms, locks },
    note: `${rowCount} rows, then ${vacuumMs.toFixed(0)} ms of vacuum`,
  };
}

function report(
  table: ReadonlyMap<string, Record<Layout, Seen>>,
  run: { marks: number; days: number; quick: boolean; given: string; loadBefore: string },
): string {
  const cell = ({ ms, locks, note }: Seen): string =>
    [ms > 0 ? `${ms.toFixed(1)} ms, ${locks} locks` : null, note].filter(Boolean).join("; ");
  const lines = [...table].map(
    ([what, seen]) => `| ${what} | ${cell(seen.days)} | ${cell(seen.months)} |`,
  );
  return `${run.marks.toLocaleString("en")} marks of ${run.days} days at 30,000 stations, in partitions of a day as the product has them, and a copy in partitions of a month with the same indexes. The product's own statements over both in turns in one database: medians of ${rounds} rounds, the most locks on tables and indexes of a transaction.

| measured | days | months |
|---|---|---|
${lines.join("\n")}

${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC, \`npm run bench -- layouts${run.quick ? " --quick" : ` --marks ${run.given}`}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}, load average ${run.loadBefore} before.`;
}
