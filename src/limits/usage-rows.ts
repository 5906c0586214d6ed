import type { ErrorCount, HourCount, UsageCount } from "#src/domain/usage.ts";
import { addTo, type Db, inTransaction, rows, type Statements } from "#src/infrastructure/db.ts";
import type { PendingUsage } from "#src/limits/pending-usage.ts";
import type { DayOfUsage } from "#src/limits/usage-fields.ts";

const epochDay = "(day - date '1970-01-01')";
const today = "(server_now() at time zone 'UTC')::date";

/** Hours that are kept and shown, the running one included. */
export const hoursKept = 48;

interface UsageTable {
  name: string;
  /** Members of the counts with their SQL types; columns have the same names in snake case. */
  by: Record<string, string>;
  sums: readonly string[];
  /** The column of time, from its number since the epoch. */
  time: [member: string, sql: string];
}

const ofDays = ["day", "date '1970-01-01' + c.day"] satisfies UsageTable["time"];
const tables = {
  counts: {
    name: "usage_days",
    by: { day: "int", audience: "text", method: "text" },
    sums: ["requests", "notModified", "errors"],
    time: ofDays,
  },
  errors: {
    name: "usage_errors",
    by: { day: "int", audience: "text", method: "text", code: "text" },
    sums: ["counted", "refused", "marks"],
    time: ofDays,
  },
  hours: {
    name: "usage_hours",
    by: { hour: "int", audience: "text", bucket: "smallint" },
    sums: ["requests", "errors", "refused"],
    time: ["hour", "timestamptz 'epoch' + c.hour * interval '1 hour'"],
  },
} satisfies Record<keyof DayOfUsage, UsageTable>;

const columnOf = (member: string): string =>
  member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Adds counts of one kind. Usage of an unknown partner (after the restore of a backup) is dropped: nobody could see it.
 */
async function addCounts(
  tx: Statements,
  { name, by, sums, time }: UsageTable,
  counts: readonly object[],
): Promise<void> {
  if (counts.length === 0) return;
  const members = ["partnerId", ...Object.keys(by), ...sums];
  const types = ["int", ...Object.values(by), ...sums.map(() => "bigint")];
  const keys = ["partner_id", ...Object.keys(by)].join();
  const values = Object.keys(by).map((key) => (key === time[0] ? time[1] : `c.${key}`));
  const columns = members.map(columnOf).join();
  const place = Object.keys(by)
    .map((_, at) => at + 2)
    .join();
  await rows(
    tx,
    `insert into ${name} as u (${columns})
     select c.partner_id, ${values.join()}, ${sums.map((sum) => `sum(c.${columnOf(sum)})`).join()}
     from unnest(${types.map((type) => `?::${type}[]`).join()}) as c(${columns})
     join partners p on p.id = c.partner_id
     group by 1, ${place} order by 1, ${place}
     on conflict (${keys}) do update set ${addTo("u", ...sums.map(columnOf))}`,
    members.map((member) => counts.map((count) => (count as Record<string, unknown>)[member])),
  );
}

/** Adds usage to the durable rows, unless its id was added before. Returns the number of new ones. */
export const addUsage = (db: Db, batches: readonly PendingUsage[]): Promise<number> =>
  inTransaction(db, async (tx) => {
    // Sorted, so that two processes with the same batches cannot block each other.
    const ids = batches.map(({ id }) => id).sort();
    const addedSql =
      "insert into usage_batches (id) select unnest(?::text[]) on conflict do nothing returning id";
    const added = await rows<{ id: string }>(tx, addedSql, [ids]);
    const isNew = new Set(added.map(({ id }) => id));
    const fresh = batches.filter(({ id }) => isNew.has(id));
    for (const kind of ["counts", "errors", "hours"] as const) {
      const counts = fresh.flatMap(({ partnerId, [kind]: of }) =>
        of.map((count) => ({ partnerId, ...count })),
      );
      await addCounts(tx, tables[kind], counts);
    }
    return added.length;
  });

/**
 * The rows of `sql` and the usage in `pending` that is not in them, at one instant of the database: each request once.
 * Rejects when Postgres is away.
 */
async function withPending<Count>(
  db: Db,
  sql: string,
  bindings: readonly unknown[],
  pending: readonly PendingUsage[],
  countsOf: (usage: PendingUsage) => readonly Count[],
): Promise<Count[]> {
  const [found] = await rows<{ added: string[]; durable: Count[] }>(
    db,
    `select (select coalesce(array_agg(id), '{}') from usage_batches where id = any(?::text[])) as added,
       (select coalesce(json_agg(d), '[]') from (${sql}) d) as durable`,
    [pending.map(({ id }) => id), ...bindings],
  );
  const { added, durable } = found!;
  return [...durable, ...pending.filter(({ id }) => !added.includes(id)).flatMap(countsOf)];
}

/** A partner's usage since `fromDay` (days since the epoch). Rejects when Postgres is away. */
export async function loadUsage(
  db: Db,
  partnerId: number,
  fromDay: number,
  pending: readonly PendingUsage[],
): Promise<UsageCount[]> {
  const sql = `select ${epochDay} as day, audience, method, requests, not_modified as "notModified", errors
    from usage_days where partner_id = ? and day >= date '1970-01-01' + ?::int`;
  const found = await withPending(db, sql, [partnerId, fromDay], pending, ({ counts }) => counts);
  return found.filter(({ day }) => day >= fromDay);
}

/**
 * A partner's errors by code since `fromDay` (days since the epoch). The code is "" for errors of usage from before codes
 * were kept. Rejects when Postgres is away.
 */
export async function loadErrors(
  db: Db,
  partnerId: number,
  fromDay: number,
  pending: readonly PendingUsage[],
): Promise<ErrorCount[]> {
  const sql = `with d as (
       select ${epochDay} as day, audience, method, errors from usage_days
       where partner_id = ? and day >= date '1970-01-01' + ?::int and errors > 0),
     e as (
       select ${epochDay} as day, audience, method, code, counted, refused, marks from usage_errors
       where partner_id = ? and day >= date '1970-01-01' + ?::int)
     select day, audience, method, code, counted, refused, marks from e
     union all
     -- What was counted before codes were kept.
     select d.day, d.audience, d.method, '', d.errors - coalesce(sum(e.counted), 0)::bigint, 0, 0
       from d left join e using (day, audience, method) group by d.day, d.audience, d.method, d.errors
       having d.errors > coalesce(sum(e.counted), 0)`;
  const bindings = [partnerId, fromDay, partnerId, fromDay];
  const found = await withPending(db, sql, bindings, pending, ({ errors }) => errors);
  return found.filter(({ day }) => day >= fromDay);
}

/** A partner's hours since `fromHour` (hours since the epoch). Rejects when Postgres is away. */
export async function loadHours(
  db: Db,
  partnerId: number,
  fromHour: number,
  pending: readonly PendingUsage[],
): Promise<HourCount[]> {
  const sql = `select (extract(epoch from hour - timestamptz 'epoch') / extract(epoch from interval '1 hour'))::int as hour,
      audience, bucket, requests, errors, refused
    from usage_hours where partner_id = ? and hour >= timestamptz 'epoch' + ?::int * interval '1 hour'`;
  const found = await withPending(db, sql, [partnerId, fromHour], pending, ({ hours }) => hours);
  return found.filter(({ hour }) => hour >= fromHour);
}

/** Durable use of partners' servers today, by partner; `day` in days since the epoch. */
export async function loadUsedToday(
  db: Db,
): Promise<{ day: number; counts: Map<number, number> } | null> {
  const sql = `select p.id, ${epochDay} as day, coalesce(u.used, 0)::bigint as used
     from (select ${today} as day) d, partners p
     cross join lateral (
       select sum(requests) as used from usage_days
       where partner_id = p.id and usage_days.day = ${today} and audience = 'partner') u`;
  const found = await rows<{ id: number; day: number; used: number }>(db, sql);
  const [first] = found;
  if (first === undefined) return null;
  return { day: first.day, counts: new Map(found.map(({ id, used }) => [id, used])) };
}

const batchesKeptDays = 2;

/** Drops days past `keptDays`, hours that are not shown any more, and old ids of batches that Redis no longer has. */
export async function pruneUsage(
  db: Db,
  keptDays: number,
  held: readonly PendingUsage[],
): Promise<void> {
  for (const { name } of [tables.counts, tables.errors])
    await rows(db, `delete from ${name} where day < ${today} - ?::int`, [keptDays]);
  const oldHours = `delete from usage_hours where hour < server_now() - ${hoursKept} * interval '1 hour'`;
  await rows(db, oldHours);
  const sql =
    "delete from usage_batches where at < server_now() - ?::int * interval '1 day' and id not in (select unnest(?::text[]))";
  await rows(db, sql, [batchesKeptDays, held.map(({ id }) => id)]);
}
