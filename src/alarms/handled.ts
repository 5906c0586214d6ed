import type { AlarmRow } from "#src/alarms/alarms.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { nearestCity } from "#src/marks/nearest-city.ts";
import { networkDigits } from "#src/marks/source-blocks.ts";

/** Finds the alarms about which nothing is left to decide (decisions 16.16), and the names of their partners. */
export async function handledAlarms(
  db: Db,
  alarms: readonly AlarmRow[],
): Promise<{ handled: ReadonlySet<number>; partners: ReadonlyMap<number, string> }> {
  const ids = [...new Set(alarms.map(partnerOf).filter((id) => id !== null))];
  const sql = "select id, name from partners where id = any(?::int[])";
  const [heldAt, settled, named] = await Promise.all([
    alarms.some(({ kind }) => kind === "marks-held") ? heldPlaces(db) : new Set<string>(),
    settledAlarms(db, alarms),
    rows<{ id: number; name: string }>(db, sql, [ids]),
  ]);
  const decided = alarms.filter(
    ({ kind, subject, city }) =>
      kind === "marks-held" && !heldAt.has(JSON.stringify([subject, city])),
  );
  return {
    handled: new Set([...settled, ...decided.map(({ id }) => id)]),
    partners: new Map(named.map(({ id, name }) => [id, name])),
  };
}

/** The number in `partner 3`; null for another subject. */
export const partnerOf = ({ subject }: Pick<AlarmRow, "subject">): number | null => {
  const [, id] = /^partner (\d{1,9})$/.exec(subject) ?? [];
  return id === undefined ? null : Number(id);
};

/** The subjects and cities of alarms, for all marks that are held. */
async function heldPlaces(db: Db): Promise<Set<string>> {
  const found = await rows<{ subject: string; city: string }>(
    db,
    `select distinct case when m.viewer is null then 'partner ' || m.partner_id
         else 'network ' || left(encode(m.viewer, 'hex'), ${networkDigits}) end as subject, coalesce(c.name, '') as city
     from marks m join stations a on a.id = m.station_id left join ${nearestCity} on true
     where m.review = 'held'`,
  );
  return new Set(found.map(({ subject, city }) => JSON.stringify([subject, city])));
}

/** Alarms of webhooks that are on again or gone, and of deletions that are done or allowed. */
async function settledAlarms(db: Db, alarms: readonly AlarmRow[]): Promise<number[]> {
  const sql = `select a.id from alarms a where a.id = any(?::int[]) and (
       a.kind = 'webhook-off' and not exists (select from webhook_endpoints e
         where e.id::text = a.details ->> 'webhook' and e.off_reason is not null)
       or a.kind = 'deletion-waits' and not exists (select from retention_steps s
         where 'retention ' || s.step = a.subject and s.asked_at is not null and s.allowed_at is null))`;
  const found = await rows<{ id: number }>(db, sql, [alarms.map(({ id }) => id)]);
  return found.map(({ id }) => id);
}
