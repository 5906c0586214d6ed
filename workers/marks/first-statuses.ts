import { type Alarm, raiseAlarms } from "#src/alarms/raise.ts";
import { hourMs } from "#src/domain/units.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { fromMs } from "#src/marks/marks.ts";

/** A source whose newcomers gave stations their first status (decisions 4.19). */
export interface FirstStatuses {
  /** As `countedAsFirst` makes it. */
  name: string;
  /** What an alarm calls the source. */
  shown: string;
  /** Stations an hour, beyond which the operator is told. */
  limit: number;
}

/** The name under which these changes lie in `review_changes`. No limit of the review reads it. */
export const countedAsFirst = (source: string): string => `first ${source}`;

/**
 * Raises an alarm about each of these sources that has passed its limit in the hour before `now`, ms. To be called when
 * the changes are committed: of several processes that commit at once, the last one sees them all.
 */
export async function tellFirstStatuses(
  db: Db,
  firsts: readonly FirstStatuses[],
  now: number,
): Promise<void> {
  const found = await rows<{ name: string; stations: number }>(
    db,
    `select source as name, count(distinct station_id) as stations from review_changes
     where source = any(?::text[]) and at > ${fromMs} group by 1`,
    [firsts.map(({ name }) => name), now - hourMs],
  );
  const counts = new Map(found.map(({ name, stations }) => [name, stations]));
  const alarms = firsts.flatMap(({ name, shown, limit }): Alarm[] => {
    const stations = counts.get(name) ?? 0;
    if (stations <= limit) return [];
    return [{ kind: "first-statuses", subject: shown, at: now, details: { stations } }];
  });
  await raiseAlarms(db, alarms);
}
