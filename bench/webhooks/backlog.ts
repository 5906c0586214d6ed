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

/** As if everything had been delivered, so that the next marks make a backlog of a known size. */
export async function forgetBacklog(db: Db): Promise<void> {
  await rows(db, "delete from webhook_deliveries where delivered_at is null");
  await rows(db, "delete from webhook_outcomes");
  await rows(
    db,
    `update webhook_endpoints set failures = 0, failing_since = null, next_at = '-infinity',
       claimed_until = '-infinity', stations_at = '-infinity',
       change_seq = coalesce((select max(seq) from changes), 0),
       time_change_seq = coalesce((select max(seq) from time_changes), 0)`,
  );
}
