import { dayMs } from "#src/domain/units.ts";
import { type Db, inTransaction, rows, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { grouped, slices } from "#src/infrastructure/lists.ts";
import { dayOfId, firstIdOfDay } from "#src/marks/marks.ts";

/** Most partitions that one statement reads: a transaction locks each of them, and each of its indexes. */
const daysAtOnce = 8;
/** The newest days are always read: today and this number of days before it. */
const recentDays = 3;

/** UTC days, as numbers since the epoch, that one statement may read. */
export type Days = readonly number[];

/** SQL on ids of marks for these days. Postgres then reads and locks only the partitions of these days. */
export function idsOfDays(days: Days, column = "id"): string {
  // Consecutive days have the same difference to their place in the list.
  const ascending = [...new Set(days)].sort((a, b) => a - b);
  const inRow = grouped(ascending.entries(), ([place, day]) => day - place);
  const ranges = [...inRow.values()].map((row) => {
    const [[, first], [, last]] = [row[0]!, row.at(-1)!];
    const [from, to] = [first, last + 1].map((day) => firstIdOfDay(day * dayMs));
    return `${column} >= ${from} and ${column} < ${to}`;
  });
  return ranges.length === 0 ? "false" : `(${ranges.join(" or ")})`;
}

/** The UTC days of marks with these ids. */
export const daysOfIds = (ids: readonly number[]): Days => ids.map((id) => dayOfId(id) / dayMs);

/**
 * The days of all open marks: not processed yet, failed, or held. The oldest come first, in lists that one statement
 * may read (decisions 16.25).
 */
export async function openDays(db: Statements): Promise<Days[]> {
  const found = await rows<{ day: number }>(
    db,
    `with today as (select (server_now() at time zone 'UTC')::date - date '1970-01-01' as day)
     select days.day from today, (
       select day - date '1970-01-01' as day from open_days
       union select generate_series(today.day - ${recentDays}, today.day + 1) from today) days
     where days.day <= today.day + 1 order by 1`,
  );
  return [
    ...slices(
      found.map(({ day }) => day),
      daysAtOnce,
    ),
  ];
}

/**
 * Reads open marks from the oldest to the newest, some days at a time, until there are `limit` of them: `read` gets the
 * days and the number of marks that are still wanted.
 */
export async function readOpen<T>(
  db: Statements,
  read: (days: Days, wanted: number) => Promise<T[]>,
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const found: T[] = [];
  for (const days of await openDays(db)) {
    if (found.length >= limit) break;
    found.push(...(await read(days, limit - found.length)));
  }
  return found;
}

/** Lists days whose marks became open again because a decision was taken back. */
export async function reopenDays(tx: Tx, days: Days): Promise<void> {
  const ascending = [...new Set(days)].sort((a, b) => a - b);
  if (ascending.length === 0) return;
  // The update waits for `closeDays`, and makes it wait.
  const sql = `insert into open_days (day) select date '1970-01-01' + day from unnest(?::int[]) as d(day)
    on conflict (day) do update set day = excluded.day`;
  await rows(tx, sql, [ascending]);
}

/**
 * Removes days without open marks from the list. Adds days that have open marks because somebody changed rows by hand.
 * Reads one partition at a time.
 */
export async function closeDays(db: Db, now: number): Promise<void> {
  const recentFrom = Math.floor(now / dayMs) - recentDays;
  const kept: number[] = [];
  for (const { name, state } of await dayTablesBefore(db, recentFrom * dayMs)) {
    if (state !== "attached") continue;
    const day = dayOfTable(name) / dayMs;
    kept.push(day);
    await inTransaction(db, (tx) => closeDay(tx, day));
  }
  const ofDay = "day - date '1970-01-01'";
  const sql = `delete from open_days where ${ofDay} < ?::int and ${ofDay} <> all(?::int[])`;
  await rows(db, sql, [recentFrom, kept]);
}

async function closeDay(tx: Tx, day: number): Promise<void> {
  const ofDay = "day = date '1970-01-01' + ?::int";
  // The reversal of a decision waits for this transaction, and then lists the day again.
  const listed = await rows(tx, `select day from open_days where ${ofDay} for update`, [day]);
  const [found] = await rows<{ open: boolean }>(
    tx,
    `select exists (select from marks where ${idsOfDays([day])} and processed_at is null)
       or exists (select from marks where ${idsOfDays([day])} and review = 'held') as open`,
  );
  if (found!.open && listed.length === 0) await reopenDays(tx, [day]);
  else if (!found!.open && listed.length > 0)
    await rows(tx, `delete from open_days where ${ofDay}`, [day]);
}

/** The table of one UTC day of marks. */
export interface DayTable {
  name: string;
  /** `pending`: a detach has begun and waits for older transactions. `detached`: a table of its own again. */
  state: "attached" | "pending" | "detached";
}

/** Our tables have a check of their range. Others of such a name were made, or attached elsewhere, by somebody else. */
const dayTables = `pg_class c left join pg_inherits i on i.inhrelid = c.oid
  where c.relkind = 'r' and c.relname ~ '^marks_[0-9]{8}$'
    and c.relnamespace = (select relnamespace from pg_class where oid = 'marks'::regclass)
    and (i.inhparent = 'marks'::regclass or i.inhparent is null and exists (
      select from pg_constraint where conrelid = c.oid and conname = c.relname || '_range'))`;

/** The name of the table that holds the marks of the UTC day of `ms`. */
const dayTableOf = (ms: number): string =>
  `marks_${new Date(ms).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** The beginning, ms, of the UTC day of a table. */
export const dayOfTable = (name: string): number =>
  Date.parse(name.replace(/^marks_(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3"));

/**
 * The tables of the days before that of `ms`, the oldest first, but pending ones before all others, because Postgres
 * detaches no other partition before them.
 */
export const dayTablesBefore = (db: Statements, ms: number): Promise<DayTable[]> =>
  rows<DayTable>(
    db,
    `select c.relname as name,
       case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end as state
     from ${dayTables} and c.relname < ? order by coalesce(i.inhdetachpending, false) desc, c.relname`,
    [dayTableOf(ms)],
  );

/** The beginning, ms, of the oldest day that has a table, in any state; null without one. */
export async function oldestDay(db: Statements): Promise<number | null> {
  const [found] = await rows<{ name: string | null }>(
    db,
    `select min(c.relname::text) as name from ${dayTables}`,
  );
  return found?.name == null ? null : dayOfTable(found.name);
}
