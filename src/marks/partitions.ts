import { rows, type Statements } from "#src/infrastructure/db.ts";

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
