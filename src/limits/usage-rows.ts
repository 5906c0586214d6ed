import { addTo, inTransaction, rows, type Db } from "#src/infrastructure/db.ts";
import type { UsageCount } from "#src/domain/usage.ts";
import type { PendingUsage } from "#src/limits/pending-usage.ts";
import { addUsageDetail, pruneUsageDetail } from "#src/limits/usage-detail.ts";

const epochDay = "(day - date '1970-01-01')";
const today = "(server_now() at time zone 'UTC')::date";

const countColumns = [
  ...(["partnerId", "day", "audience", "method", "requests", "notModified", "errors"] as const),
];

/** Adds to the durable rows what was not added before under the same id. Returns how many were new. */
export const addUsage = (db: Db, batches: readonly PendingUsage[]): Promise<number> =>
  inTransaction(db, async (tx) => {
    // In one order, so that two processes with the same batches cannot block each other.
    const ids = batches.map(({ id }) => id).sort();
    const addedSql =
      "insert into usage_batches (id) select unnest(?::text[]) on conflict do nothing returning id";
    const added = await rows<{ id: string }>(tx, addedSql, [ids]);
    const isNew = new Set(added.map(({ id }) => id));
    const fresh = batches.filter(({ id }) => isNew.has(id));
    const counts = fresh.flatMap(({ partnerId, counts }) =>
      counts.map((count) => ({ partnerId, ...count })),
    );
    // Usage of an unknown partner (an older backup was restored) is dropped: no partner could see it.
    await rows(
      tx,
      `insert into usage_days as u (partner_id, day, audience, method, requests, not_modified, errors)
       select c.partner_id, date '1970-01-01' + c.day, c.audience, c.method, sum(c.requests), sum(c.not_modified), sum(c.errors)
       from unnest(?::int[], ?::int[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[])
         as c(partner_id, day, audience, method, requests, not_modified, errors)
       join partners p on p.id = c.partner_id
       group by 1, 2, 3, 4 order by 1, 2, 3, 4
       on conflict (partner_id, day, audience, method) do update set ${addTo("u", "requests", "not_modified", "errors")}`,
      countColumns.map((name) => counts.map((count) => count[name])),
    );
    await addUsageDetail(tx, fresh);
    return added.length;
  });

/**
 * A partner's durable rows since `fromDay`, with those of `pending` that are not among them, at one instant of the
 * database: each request once. Rejects when Postgres is away.
 */
export async function loadUsage(
  db: Db,
  partnerId: number,
  fromDay: number,
  pending: readonly PendingUsage[],
): Promise<UsageCount[]> {
  const found = await rows<UsageCount & { batch: string | null }>(
    db,
    `select ${epochDay} as day, audience, method, requests, not_modified as "notModified", errors, null as batch
       from usage_days where partner_id = ? and day >= date '1970-01-01' + ?::int
     union all
     select 0, '', '', 0, 0, 0, id from usage_batches where id in (select unnest(?::text[]))`,
    [partnerId, fromDay, pending.map(({ id }) => id)],
  );
  const added = new Set(found.map(({ batch }) => batch));
  const durable = found.flatMap(({ batch, ...count }) => (batch === null ? count : []));
  const live = pending.filter(({ id }) => !added.has(id)).flatMap(({ counts }) => counts);
  return [...durable, ...live.filter(({ day }) => day >= fromDay)];
}

/** What partners' servers have durably used today, by partner; `day` in days since the epoch. */
export async function loadUsedToday(
  db: Db,
): Promise<{ day: number; counts: Map<number, number> } | null> {
  const found = await rows<{ id: number; day: number; used: number }>(
    db,
    `select p.id, ${epochDay} as day, coalesce(u.used, 0)::bigint as used
     from (select ${today} as day) d, partners p
     cross join lateral (
       select sum(requests) as used from usage_days
       where partner_id = p.id and usage_days.day = ${today} and audience = 'partner') u`,
  );
  const [first] = found;
  if (first === undefined) return null;
  return { day: first.day, counts: new Map(found.map(({ id, used }) => [id, used])) };
}

const batchesKeptDays = 2;

/** Drops days past `keptDays`, and the ids of batches that cannot come again: old ones that Redis no longer holds. */
export async function pruneUsage(
  db: Db,
  keptDays: number,
  held: readonly PendingUsage[],
): Promise<void> {
  await rows(db, `delete from usage_days where day < ${today} - ?::int`, [keptDays]);
  await pruneUsageDetail(db, keptDays);
  const sql =
    "delete from usage_batches where at < server_now() - ?::int * interval '1 day' and id not in (select unnest(?::text[]))";
  await rows(db, sql, [batchesKeptDays, held.map(({ id }) => id)]);
}
