import { rows, type Db } from "#src/infrastructure/db.ts";
import type { HeldReason, SentDay, SentOutcome } from "#src/contract/dashboard.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { firstIdOfDay, fromMs, idAfter } from "#src/marks/marks.ts";

type Source = "partner" | "widget";

/**
 * The marks of a partner's keys, revoked ones included, on the UTC day of `now` (ms) and the `days - 1` before it, by
 * day and outcome, the newest day first. At most the newest `max` of each key are counted, so that one answer stays cheap.
 */
export async function countSentMarks(
  db: Db,
  partnerId: number,
  now: number,
  days: number,
  max: number,
): Promise<SentDay[]> {
  const today = Math.floor(now / dayMs) * dayMs;
  const since = today - (days - 1) * dayMs;
  type Row = {
    date: string;
    source: Source;
    outcome: SentOutcome;
    reason: HeldReason | null;
    count: number;
  };
  const found = await rows<Row>(
    db,
    `select (m.received_at at time zone 'UTC')::date as date, m.source, m.outcome, m.reason, count(*) as count
     from keys k cross join lateral (
       select received_at, source, case
           when review in ('held', 'rejected', 'withdrawn') then review
           when failed_at is not null then 'failed'
           when processed_at is null then 'queued'
           else outcome end as outcome,
         case when review = 'held' then coalesce(held_reason, 'mass-no') end as reason
       from marks
       where key_id = k.id and received_at >= ${fromMs} and id >= ? and id < ?
       order by received_at desc limit ?) m
     where k.partner_id = ?
     group by 1, 2, 3, 4`,
    [since, firstIdOfDay(since), idAfter(now), max, partnerId],
  );
  return Array.from({ length: days }, (_, back) => {
    const date = formatTime(today - back * dayMs).slice(0, 10);
    const ofDay = found.filter((row) => row.date === date);
    const of = (source: Source): SentDay["partner"] =>
      summed(ofDay.filter((row) => row.source === source).map((row) => [row.outcome, row.count]));
    const held = summed(
      ofDay.flatMap(({ reason, count }) => (reason === null ? [] : [[reason, count] as const])),
    );
    return { date, partner: of("partner"), widget: of("widget"), held };
  });
}

/** Several counts of one name added up. */
function summed<Name extends string>(
  counts: readonly (readonly [Name, number])[],
): Partial<Record<Name, number>> {
  const sums: Partial<Record<Name, number>> = {};
  for (const [name, n] of counts) sums[name] = (sums[name] ?? 0) + n;
  return sums;
}
