import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openFilledStage } from "#bench/filled-stage.ts";
import type { Measured } from "#bench/load/main.ts";
import { type Load, startServer } from "#bench/processes.ts";
import type { Stage } from "#bench/stage.ts";
import { readProcfile } from "#demo/roles.ts";
import { run } from "#demo/servers/command.ts";
import { somePort } from "#demo/servers/port.ts";
import { findPostgres } from "#demo/servers/postgres-binaries.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { createClock } from "#src/infrastructure/clock.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { askRefold, type ChangedEvent } from "#src/infrastructure/locks.ts";
import { createLog } from "#src/infrastructure/log.ts";
import { createRedis } from "#src/infrastructure/redis.ts";
import { hourMs } from "#src/domain/units.ts";
import { readBacklog } from "#src/marks/backlog.ts";
import { previewRollback } from "#src/marks/effects.ts";
import { firstIdOfDay, msOf } from "#src/marks/marks.ts";
import type { Selection } from "#src/marks/mark-selection.ts";
import { processStations } from "#workers/marks/process.ts";
import { retire } from "#workers/upkeep/retention.ts";

const partners = 8;
const marksPerSecond = 30;
const markSeconds = 20;
const backlogsRead = 20;
const stationsShown = 20;
const refolded = 50;
const lookEveryMs = 5;
const extrapolatedTo = 400_000_000;
/** Ids of this benchmark's marks begin here within their day: those of the product begin at 1. */
export const firstOfDay = 2 ** 31;

/** One look at the database with so many marks. Times in ms. */
interface Row {
  marks: number;
  gigabytes: number;
  times: Map<string, Watched>;
  sent: Measured;
}

interface Watched {
  ms: number;
  /** The most that one transaction held. */
  locks: number;
  /** What else is to be said. */
  note?: string;
}

/**
 * What grows with the years: the database with 10 and with 30 million marks in 420 partitions of a day each, and the
 * product's own functions over it. Answers the section of results.md.
 */
export async function benchYears({
  quick,
  marks,
}: {
  quick: boolean;
  /** Two sizes, in millions. */
  marks: string;
}): Promise<string> {
  const days = quick ? 40 : 420;
  const sizes = quick ? [100_000, 300_000] : marks.split(",").map((each) => Number(each) * 1e6);
  const stage = await openFilledStage(
    { RETENTION_DAYS: String(days) },
    { partners: () => partners, queryTimeoutMs: 120_000 },
  );
  try {
    const { db, load } = stage;
    const client = new pg.Client({ connectionString: stage.settings.DATABASE_URL });
    await client.connect();
    stage.onClose(() => client.end());
    await prepare(client, days);
    const loadBefore = loadavg();
    const looked: Row[] = [];
    for (const [n, size] of sizes.entries()) {
      const startedAt = performance.now();
      const perDay = (of: number): number => Math.round(of / days);
      // The oldest day is over at each look.
      await addMarks(client, days - n, perDay(sizes[n - 1] ?? 0), perDay(size));
      console.log(
        `${millions(size)}: filled in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
      );
      looked.push(await look(stage, db, { retentionDays: days - 1 - n, load }));
      for (const [what, { ms, locks, note }] of looked.at(-1)!.times)
        console.log(`  ${what}: ${ms.toFixed(1)} ms, ${locks} locks ${note ?? ""}`);
    }
    return report(looked, { days, marks: quick ? null : marks, loadBefore });
  } finally {
    await stage.close();
  }
}

/** The partitions, and the stations and keys numbered. */
export async function prepare(client: pg.Client, days: number): Promise<void> {
  for (let from = 0; from <= days; from += 20)
    await client.query("select ensure_mark_partitions(current_date - $1::int, 20)", [days - from]);
  await client.query(`
    create temp table places as select row_number() over (order by id) - 1 as n, id, lat, lon from stations;
    create unique index on places (n);
    create temp table callers as select row_number() over (order by id) - 1 as n, id, partner_id from keys;
    analyze places; analyze callers;
    insert into cleared_days (day)
      select current_date - ago from generate_series(31, ${days}) ago on conflict do nothing`);
}

/** Marks number `from` to `to` of each day before today, as the worker has left them; positions for 30 days. */
export async function addMarks(
  client: pg.Client,
  days: number,
  from: number,
  to: number,
): Promise<void> {
  for (let ago = days; ago >= 1; ago--) {
    await client.query(
      `insert into marks (id, station_id, reporter_id, partner_id, key_id, source, status, received_at, effective_at,
         lat, lon, acc_m, fuels, remote, needed, rule, processed_at, outcome, outcome_status)
       select ((current_date - $1::int - date '1970-01-01')::bigint << 32) + ${firstOfDay} + g.n, p.id,
         1 + abs(hashint8(g.n * 31 + $1)) % 400000, c.partner_id, c.id, 'partner', said.status, said.at, said.at,
         case when $1 <= 30 then p.lat end, case when $1 <= 30 then p.lon end, case when $1 <= 30 then 12 end,
         case when g.n % 3 = 0 then array['95'] end, false, 1, 'geolocated', said.at, 'published', said.status
       from generate_series($2::bigint, $3::bigint - 1) g(n)
       join places p on p.n = abs(hashint8(g.n * 7919 + $1)) % (select count(*) from places)
       join callers c on c.n = g.n % ${partners}
       cross join lateral (select (array['yes', 'yes', 'low', 'no', 'queue'])[1 + g.n % 5] as status,
         (current_date - $1::int) at time zone 'UTC' + g.n * (interval '86390 s' / $3::bigint) as at) said`,
      [ago, from, to],
    );
    if (ago % 60 === 0) console.log(`  ${ago} days ago`);
  }
  await client.query("vacuum analyze marks");
}

async function look(
  stage: Stage,
  db: Db,
  { retentionDays, load }: { retentionDays: number; load: Load },
): Promise<Row> {
  const [size] = await rows<{ marks: number; bytes: number }>(
    db,
    `select sum(greatest(reltuples, 0))::float8 as marks, sum(pg_total_relation_size(oid))::float8 as bytes
     from pg_class where relname ~ '^marks_[0-9]{6,8}$'`,
  );
  const times = new Map<string, Watched>();
  const watched = async (what: string, work: () => Promise<string | void>): Promise<void> => {
    times.set(what, await watch(stage, work));
  };
  const sent = await sendMarks(stage, load);
  const backlog = await watch(stage, async () => {
    for (let n = 0; n < backlogsRead; n++) await readBacklog(db);
  });
  times.set("backlog, which `/readyz` and `/metrics` ask for", {
    ...backlog,
    ms: backlog.ms / backlogsRead,
  });

  const [caller] = await rows<{ id: number }>(db, "select min(id) as id from keys");
  const [reporter] = await rows<{ id: number }>(
    db,
    "select reporter_id as id from marks where id = (select max(id) from marks)",
  );
  const now = Date.now();
  const selections: [what: string, selection: Selection][] = [
    ["preview of a rollback: a reporter, all days", { reporter: reporter!.id }],
    [
      "preview: a key, 6 hours",
      { key: caller!.id, since: now - 30 * hourMs, until: now - 24 * hourMs },
    ],
    [
      "preview: a key, 24 hours",
      { key: caller!.id, since: now - 48 * hourMs, until: now - 24 * hourMs },
    ],
  ];
  for (const [what, selection] of selections)
    await watched(what, async () => {
      const shown = await previewRollback(db, selection, stage.config, stationsShown);
      if (isRefusal(shown)) throw new Error(JSON.stringify(shown));
      return `${shown.marks.toLocaleString("en")} marks of ${shown.stations.toLocaleString("en")} stations`;
    });

  for (const [what, ask] of refolds) await watched(what, () => foldAnew(stage, db, ask));
  await watched("retention of a day: detached, its people pruned, dropped", async () => {
    const config = { ...stage.config, retentionDays };
    const log = createLog({ logLevel: "warn" }, "bench");
    const redis = createRedis(config, log);
    try {
      await retire({ db, config, log, redis, time: { isTrusted: () => true } });
    } finally {
      redis.disconnect();
    }
  });
  await watched("`pg_dump --format=custom --compress=0`", async () => {
    const [found] = await findPostgres();
    const dump = await run(
      "sh",
      [
        "-c",
        '"$1" -Fc -Z0 "$2" | wc -c',
        "sh",
        join(found!.bin, "pg_dump"),
        stage.settings.DATABASE_URL,
      ],
      { timeoutMs: 1_800_000 },
    );
    if (!dump.ok) throw new Error(dump.stderr);
    return `${(Number(dump.stdout) / 1e9).toFixed(2)} GB`;
  });
  return { marks: size!.marks, gigabytes: size!.bytes / 1e9, times, sent };
}

/** Who asks the worker to fold stations anew, for marks of today that changed. */
const refolds: [
  what: string,
  ask: (tx: Tx, changed: readonly ChangedEvent[]) => Promise<unknown>,
][] = [
  [`${refolded} stations folded anew, each from its mark of today on`, askRefold],
  [
    "the same, each from all that is kept",
    (tx, changed) =>
      rows(tx, "update station_status set refold = true where station_id = any(?::text[])", [
        changed.map(({ station_id }) => station_id),
      ]),
  ],
];

/** What the worker has to do after a decision about marks of today: one transaction for all their stations. */
async function foldAnew(
  { config }: Stage,
  db: Db,
  ask: (tx: Tx, changed: readonly ChangedEvent[]) => Promise<unknown>,
): Promise<string> {
  const changed = await rows<ChangedEvent>(
    db,
    `select station_id, min(${msOf("effective_at")}) as at from marks
     where id >= ? and processed_at is not null group by 1 order by 1 limit ${refolded}`,
    [firstIdOfDay(Date.now())],
  );
  const stationIds = changed.map(({ station_id }) => station_id);
  await inTransaction(db, (tx) => ask(tx, changed));
  const log = createLog({ logLevel: "warn" }, "bench");
  await processStations({ db, config, clock: createClock(config), log }, stationIds);
  return `${stationIds.length} stations`;
}

/** Marks through `web` and `marks` as they arrive every day. */
async function sendMarks(stage: Stage, load: Load): Promise<Measured> {
  const port = await somePort();
  const procfile = readProcfile();
  const servers = [];
  for (const role of ["web", "marks"])
    servers.push(await startServer(procfile.get(role)!, { ...stage.settings, PORT: String(port) }));
  const send = (seconds: number): Promise<Measured> =>
    load.run({ side: "Fuelmark", port, pace: { perSecond: marksPerSecond }, seconds });
  try {
    await send(5);
    return await send(markSeconds);
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** How long it takes, and the most locks that one transaction of this database was seen with meanwhile. */
async function watch(stage: Stage, work: () => Promise<string | void>): Promise<Watched> {
  const client = new pg.Client({ connectionString: stage.settings.DATABASE_URL });
  await client.connect();
  let locks = 0;
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const { rows: found } = await client.query<{ most: number }>(
        `select coalesce(max(count), 0)::int as most from (
           select count(*) from pg_locks where pid <> pg_backend_pid() and locktype = 'relation' group by pid) each`,
      );
      locks = Math.max(locks, found[0]!.most);
      await new Promise((done) => setTimeout(done, lookEveryMs));
    }
  })();
  const startedAt = performance.now();
  try {
    const note = await work();
    const ms = performance.now() - startedAt;
    return note === undefined ? { ms, locks } : { ms, locks, note };
  } finally {
    isOver = true;
    await looking;
    await client.end();
  }
}

const millions = (count: number): string => `${Number((count / 1e6).toFixed(1))} million`;
const time = (ms: number): string =>
  ms < 10_000 ? `${ms.toFixed(ms < 100 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(0)} s`;

function report(
  looked: readonly Row[],
  run: { days: number; marks: string | null; loadBefore: readonly number[] },
): string {
  const [few, many] = looked as [Row, Row];
  const grown = (from: number, to: number): number =>
    Math.max(to, to + ((to - from) * (extrapolatedTo - many.marks)) / (many.marks - few.marks));
  const cell = ({ ms, locks, note }: Watched): string =>
    `${time(ms)}, ${locks} locks${note === undefined ? "" : `; ${note}`}`;
  const lines = [...few.times].map(([what, first]) => {
    const second = many.times.get(what)!;
    return `| ${what} | ${cell(first)} | ${cell(second)} | ${time(grown(first.ms, second.ms))} |`;
  });
  const sent = ({ sent: { p50, p99, statuses } }: Row): string =>
    `p50 ${time(p50)}, p99 ${time(p99)} (${Object.entries(statuses)
      .map(([status, count]) => `${status} × ${count}`)
      .join(", ")})`;
  const at = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `Marks of ${run.days} days, a partition each, made by SQL as the worker leaves them, of 400,000 people through ${partners} keys at 30,000 stations; positions for the last 30 days. Then the product's own functions over them, each once after a \`vacuum analyze\`, with Postgres as it comes (\`shared_buffers\` of 128 MB). Locks: the most on tables and indexes that one transaction held; Postgres has 6,400 for all transactions by default. The last column is a straight line through the two sizes, so an extrapolation and no measurement.

| measured | ${millions(few.marks)} | ${millions(many.marks)} | ${millions(extrapolatedTo)}, extrapolated |
|---|---|---|---|
| \`marks\` with its indexes | ${few.gigabytes.toFixed(1)} GB | ${many.gigabytes.toFixed(1)} GB | ${grown(few.gigabytes, many.gigabytes).toFixed(0)} GB |
| answer to a mark, ${marksPerSecond} a second | ${sent(few)} | ${sent(many)} | p50 ${time(grown(few.sent.p50, many.sent.p50))} |
${lines.join("\n")}

${at} UTC, \`npm run bench -- years${run.marks === null ? " --quick" : ` --marks ${run.marks}`}\`, ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "?"}), Node ${process.versions.node}; load average ${run.loadBefore.map((one) => one.toFixed(1)).join(" ")} before.`;
}
