import { addTo, type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import type { ErrorCount, HourCount } from "#src/domain/usage.ts";
import type { PendingUsage } from "#src/limits/pending-usage.ts";

/** Hours that are kept and shown, the running one included. */
export const hoursKept = 48;

const errorColumns = [
  ...(["partnerId", "day", "audience", "method", "code", "counted", "refused", "marks"] as const),
];
const hourColumns = ["partnerId", "hour", "audience", "bucket", "requests", "errors"] as const;

/** Adds errors by code, and hours, of batches that are added in the same transaction. */
export async function addUsageDetail(
  tx: Statements,
  batches: readonly PendingUsage[],
): Promise<void> {
  const errors = batches.flatMap(({ partnerId, errors }) =>
    errors.map((error) => ({ partnerId, ...error })),
  );
  if (errors.length > 0)
    await rows(
      tx,
      `insert into usage_errors as u (partner_id, day, audience, method, code, counted, refused, marks)
       select c.partner_id, date '1970-01-01' + c.day, c.audience, c.method, c.code, sum(c.counted), sum(c.refused), sum(c.marks)
       from unnest(?::int[], ?::int[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[])
         as c(partner_id, day, audience, method, code, counted, refused, marks)
       join partners p on p.id = c.partner_id
       group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
       on conflict (partner_id, day, audience, method, code) do update set ${addTo("u", "counted", "refused", "marks")}`,
      errorColumns.map((name) => errors.map((error) => error[name])),
    );
  const hours = batches.flatMap(({ partnerId, hours }) =>
    hours.map((hour) => ({ partnerId, ...hour })),
  );
  if (hours.length > 0)
    await rows(
      tx,
      `insert into usage_hours as u (partner_id, hour, audience, bucket, requests, errors)
       select c.partner_id, timestamptz 'epoch' + c.hour * interval '1 hour', c.audience, c.bucket, sum(c.requests), sum(c.errors)
       from unnest(?::int[], ?::int[], ?::text[], ?::smallint[], ?::bigint[], ?::bigint[])
         as c(partner_id, hour, audience, bucket, requests, errors)
       join partners p on p.id = c.partner_id
       group by 1, 2, 3, 4 order by 1, 2, 3, 4
       on conflict (partner_id, hour, audience, bucket) do update set ${addTo("u", "requests", "errors")}`,
      hourColumns.map((name) => hours.map((hour) => hour[name])),
    );
}

/**
 * A partner's errors by code since `fromDay` (days since the epoch), those of `pending` included, at one instant of the
 * database: each once. The code is "" for errors of usage from before codes were kept. Rejects when Postgres is away.
 */
export async function loadErrors(
  db: Db,
  partnerId: number,
  fromDay: number,
  pending: readonly PendingUsage[],
): Promise<ErrorCount[]> {
  const found = await rows<ErrorCount & { batch: string | null }>(
    db,
    `with d as (
       select (day - date '1970-01-01') as day, audience, method, errors from usage_days
       where partner_id = ? and day >= date '1970-01-01' + ?::int and errors > 0),
     e as (
       select (day - date '1970-01-01') as day, audience, method, code, counted, refused, marks from usage_errors
       where partner_id = ? and day >= date '1970-01-01' + ?::int)
     select day, audience, method, code, counted, refused, marks, null as batch from e
     union all
     -- What was counted before codes were kept.
     select d.day, d.audience, d.method, '', d.errors - coalesce(sum(e.counted), 0)::bigint, 0, 0, null
       from d left join e using (day, audience, method) group by d.day, d.audience, d.method, d.errors
       having d.errors > coalesce(sum(e.counted), 0)
     union all
     select 0, '', '', '', 0, 0, 0, id from usage_batches where id in (select unnest(?::text[]))`,
    [partnerId, fromDay, partnerId, fromDay, pending.map(({ id }) => id)],
  );
  const added = new Set(found.map(({ batch }) => batch));
  const durable = found.flatMap(({ batch, ...error }) => (batch === null ? error : []));
  const live = pending.filter(({ id }) => !added.has(id)).flatMap(({ errors }) => errors);
  return [...durable, ...live.filter(({ day }) => day >= fromDay)];
}

/** A partner's hours since `fromHour` (hours since the epoch), as `loadErrors` does it. */
export async function loadHours(
  db: Db,
  partnerId: number,
  fromHour: number,
  pending: readonly PendingUsage[],
): Promise<HourCount[]> {
  const found = await rows<HourCount & { batch: string | null }>(
    db,
    `select (extract(epoch from hour - timestamptz 'epoch') / extract(epoch from interval '1 hour'))::int as hour, audience, bucket, requests, errors, null as batch
       from usage_hours where partner_id = ? and hour >= timestamptz 'epoch' + ?::int * interval '1 hour'
     union all
     select 0, '', 0, 0, 0, id from usage_batches where id in (select unnest(?::text[]))`,
    [partnerId, fromHour, pending.map(({ id }) => id)],
  );
  const added = new Set(found.map(({ batch }) => batch));
  const durable = found.flatMap(({ batch, ...hour }) => (batch === null ? hour : []));
  const live = pending.filter(({ id }) => !added.has(id)).flatMap(({ hours }) => hours);
  return [...durable, ...live.filter(({ hour }) => hour >= fromHour)];
}

/** Drops errors past `keptDays`, and hours that are not shown any more. */
export async function pruneUsageDetail(db: Db, keptDays: number): Promise<void> {
  const sql =
    "delete from usage_errors where day < (server_now() at time zone 'UTC')::date - ?::int";
  await rows(db, sql, [keptDays]);
  const oldHours = `delete from usage_hours where hour < server_now() - ${hoursKept} * interval '1 hour'`;
  await rows(db, oldHours);
}
