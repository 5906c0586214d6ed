import { type Answering, answerings } from "#bench/webhooks/receivers.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";

/** Endpoints that something waits for, by how their receivers answer. */
export type Waiting = Record<Answering, number>;

export async function waitingOf(db: Db): Promise<Waiting> {
  const found = await rows<{ ending: string; count: number }>(
    db,
    `select substring(url from '[a-z-]+$') as ending, count(*) as count from webhook_endpoints e
     where e.change_seq < (select max(seq) from changes)
       or e.time_change_seq < (select max(seq) from time_changes)
       or exists (select from webhook_deliveries d where d.endpoint_id = e.id and d.delivered_at is null)
       or exists (select from webhook_outcomes o where o.endpoint_id = e.id)
     group by 1`,
  );
  const counts = new Map(found.map(({ ending, count }) => [ending.replace("-", " "), count]));
  return Object.fromEntries(answerings.map((one) => [one, counts.get(one) ?? 0])) as Waiting;
}

/** Median time, ms, from a mark's outcome to its delivery, of the endpoints that are `healthy` by their number. */
export async function delayOf(db: Db, healthy: readonly number[]): Promise<number> {
  const [found] = await rows<{ ms: number | null }>(
    db,
    `with told as (
       select e.id, m.processed_at, d.delivered_at from webhook_endpoints e
       join webhook_deliveries d on d.endpoint_id = e.id and d.type = 'report.processed'
       join marks m on m.id = any(array(select jsonb_array_elements_text(d.data->'marks')::bigint))
       where substring(e.url from '/([0-9]+)/')::int = any(?::int[])
       union all
       select e.id, o.at, null from webhook_endpoints e join webhook_outcomes o on o.endpoint_id = e.id
       where substring(e.url from '/([0-9]+)/')::int = any(?::int[])
     )
     select percentile_cont(0.5) within group (
       order by extract(epoch from coalesce(delivered_at, server_now()) - processed_at) * 1000) as ms from told`,
    [[...healthy], [...healthy]],
  );
  return found?.ms ?? NaN;
}

/** As if everything had been delivered, so that the next marks make a backlog of a known size. */
export async function forgetBacklog(db: Db): Promise<void> {
  await rows(db, "delete from webhook_deliveries");
  await rows(db, "delete from webhook_outcomes");
  await rows(
    db,
    `update webhook_endpoints set failures = 0, off_at = null, off_reason = null, failing_since = null, next_at = '-infinity',
       claimed_until = '-infinity', stations_at = '-infinity',
       change_seq = coalesce((select max(seq) from changes), 0),
       time_change_seq = coalesce((select max(seq) from time_changes), 0)`,
  );
}
