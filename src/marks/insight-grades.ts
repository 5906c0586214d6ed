import { Type } from "typebox";
import { addCounts, type Counts, type GradeSums } from "#src/domain/insights.ts";
import { formatDay, startOfDay } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { type Db, inTransaction, rows, type Statements } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import { compileShape, type Quarantine } from "#src/infrastructure/quarantine.ts";
import { dayOf } from "#src/marks/insight-days.ts";
import { fromMs, msOf } from "#src/marks/marks.ts";

/** Sums of a day's looks by city id; `""` stands for the stations that have no city near. */
export type GradeDay = Readonly<Record<string, GradeSums>>;

const dayShape = compileShape(Type.Record(Type.String(), Type.Array(Type.Number())));
const lookEveryMs = 10 * minuteMs;

/**
 * Adds the grades of each city's stations now (ms) to their day, unless another process has looked within ten minutes.
 */
export const noteGrades = (
  db: Db,
  counts: Readonly<Record<string, Counts>>,
  now: number,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    await rows(tx, `select pg_advisory_xact_lock(${lockIds.insightDays})`);
    const today = startOfDay(now);
    const [last] = await rows<{ looked: number }>(
      tx,
      `select ${msOf("looked_at")} as looked from insight_grades where day = ${dayOf}`,
      [today],
    );
    if (last !== undefined && Math.abs(now - last.looked) < lookEveryMs) return;
    const [stored] = await readDay(tx, today);
    // An unreadable day is lost and begins anew.
    const isReadable = dayShape(stored?.cities) === null;
    const cities: Record<string, GradeSums> = isReadable ? { ...stored!.cities } : {};
    for (const [id, here] of Object.entries(counts)) cities[id] = addCounts(cities[id], here);
    await rows(
      tx,
      `insert into insight_grades (day, looked_at, cities) values (${dayOf}, ${fromMs}, ?::jsonb)
       on conflict (day) do update set looked_at = excluded.looked_at, cities = excluded.cities`,
      [today, now, JSON.stringify(cities)],
    );
  });

const readDay = (db: Statements, at: number): Promise<{ cities: GradeDay }[]> =>
  rows(db, `select cities from insight_grades where day = ${dayOf}`, [at]);

/** The stored days that can be read, by their midnight, ms. `known` are days of an earlier call by their last look. */
export async function readGradeDays(
  db: Db,
  known: Map<number, { lookedAt: number; day: GradeDay }>,
  quarantine: Pick<Quarantine, "take">,
): Promise<ReadonlyMap<number, GradeDay>> {
  const stored = await rows<{ at: number; looked: number }>(
    db,
    `select ${msOf("day")} as at, ${msOf("looked_at")} as looked from insight_grades`,
  );
  const days = new Map<number, GradeDay>();
  for (const { at, looked } of stored) {
    if (known.get(at)?.lookedAt !== looked) {
      const [found] = await readDay(db, at);
      if (found === undefined) continue;
      if (!quarantine.take("insight_grades", formatDay(at), dayShape(found.cities))) continue;
      known.set(at, { lookedAt: looked, day: found.cities });
    }
    days.set(at, known.get(at)!.day);
  }
  for (const at of known.keys()) if (!days.has(at)) known.delete(at);
  return days;
}
