import { dayMs } from "#src/domain/units.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { dayOfId } from "#src/marks/marks.ts";

/** The table of the marks of a UTC month, or of a day: where a migration found younger days than it moved. */
export interface MarkTable {
  name: string;
  /** The end of its month or day, ms. */
  end: number;
  /** `pending`: a detach has begun and waits for older transactions. `detached`: a table of its own again. */
  state: "attached" | "pending" | "detached";
}

/**
 * The tables of months and days that end by `ms`, the oldest first, but pending ones before all others, because Postgres
 * detaches no other partition before them. Ours have a check of their range; others of such a name were made, or
 * attached elsewhere, by somebody else.
 */
export async function tablesUntil(db: Statements, ms: number): Promise<MarkTable[]> {
  const found = await rows<Omit<MarkTable, "end">>(
    db,
    `select c.relname as name,
       case when i.inhrelid is null then 'detached' when i.inhdetachpending then 'pending' else 'attached' end as state
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid
     where c.relkind = 'r' and c.relname ~ '^marks_[0-9]{6}([0-9]{2}|)$'
       and c.relnamespace = (select relnamespace from pg_class where oid = 'marks'::regclass)
       and (i.inhparent = 'marks'::regclass or i.inhparent is null and exists (
         select from pg_constraint where conrelid = c.oid and conname = c.relname || '_range'))
     order by coalesce(i.inhdetachpending, false) desc, c.relname`,
  );
  return found
    .map((table) => ({ ...table, end: endOf(table.name) }))
    .filter(({ end }) => end <= ms);
}

function endOf(name: string): number {
  const [, year, month, day] = /^marks_(\d{4})(\d\d)(\d\d)?$/.exec(name)!;
  return day === undefined
    ? Date.UTC(Number(year), Number(month))
    : Date.parse(`${year}-${month}-${day}`) + dayMs;
}

/** The beginning, ms, of the oldest day with marks; null without one. */
export async function oldestDay(db: Statements): Promise<number | null> {
  const [oldest] = await rows<{ id: number | null }>(db, "select min(id) as id from marks");
  return oldest!.id === null ? null : dayOfId(oldest!.id);
}
