import { rows, type Db } from "#src/infrastructure/db.ts";
import type { ConsoleHits, ConsolePartner, ConsoleUsageDay } from "#src/contract/console.ts";
import { countHeldByPartner } from "#src/marks/held.ts";
import { msOf } from "#src/marks/marks.ts";
import { containing } from "#src/operators/operator-log.ts";

const today = "(server_now() at time zone 'UTC')::date";

/** All partners, or one, with figures for an operator beside their limits. */
export async function partnerRows(db: Db, id: number | null = null): Promise<ConsolePartner[]> {
  const held = await countHeldByPartner(db);
  const sql = `select p.id, p.name, p.rpm, p.daily, p.enabled, p.bind_ips, p.accept_remote, p.cache_ttl_s,
       p.new_users_daily, ${msOf("p.launch_until")} as launch_until, p.launch_new_users, p.launch_limit,
       ${msOf("p.created_at")} as created, k.secret_keys, k.publishable_keys,
       coalesce(u.today, 0)::bigint as used_today, coalesce(u.peak, 0)::bigint as used_peak,
       exists (select from limit_requests r where r.partner_id = p.id and r.status = 'pending') as pending_request
     from partners p
     cross join lateral (
       select count(*) filter (where kind = 'secret') as secret_keys,
         count(*) filter (where kind = 'publishable') as publishable_keys
       from keys where partner_id = p.id and revoked_at is null and (expires_at is null or expires_at > server_now())) k
     cross join lateral (
       select max(sum) filter (where day = ${today}) as today, max(sum) as peak from (
         select day, sum(requests) as sum from usage_days
         where partner_id = p.id and audience = 'partner' and day > ${today} - 7 group by day) d) u
     where p.id = coalesce(?::int, p.id) order by p.id`;
  const found = await rows<Omit<ConsolePartner, "held">>(db, sql, [id]);
  return found.map((partner) => ({ ...partner, held: held.get(partner.id) ?? 0 }));
}

/** Durable requests of the last `days` UTC days of these partners, each day once, the newest first. */
export async function usageOf(
  db: Db,
  partnerIds: readonly number[],
  days: number,
): Promise<Map<number, ConsoleUsageDay[]>> {
  const found = await rows<ConsoleUsageDay & { partner_id: number }>(
    db,
    `select p.id as partner_id, d.day::date::text as date,
       coalesce(sum(u.requests) filter (where audience = 'partner'), 0)::bigint as requests,
       coalesce(sum(u.not_modified) filter (where audience = 'partner'), 0)::bigint as not_modified,
       coalesce(sum(u.errors) filter (where audience = 'partner'), 0)::bigint as errors,
       coalesce(sum(u.requests) filter (where audience = 'widget'), 0)::bigint as widget
     from unnest(?::int[]) as p(id)
     cross join generate_series(${today} - ?::int, ${today}, interval '1 day') as d(day)
     left join usage_days u on u.partner_id = p.id and u.day = d.day::date
     group by 1, 2 order by 1, 2 desc`,
    [partnerIds, days - 1],
  );
  const usage = new Map<number, ConsoleUsageDay[]>(partnerIds.map((id) => [id, []]));
  for (const { partner_id: id, ...day } of found) usage.get(id)?.push(day);
  return usage;
}

/**
 * Partners by name or number, and keys by prefix, label or number, for a search `q`: at most `limit` of each. Names
 * that begin with it and keys in force come first. A whole key is found by its stored prefix.
 */
export async function findPartnersAndKeys(
  db: Db,
  q: string,
  limit: number,
): Promise<Pick<ConsoleHits, "partners" | "keys">> {
  const part = containing(q);
  const [partners, keys] = await Promise.all([
    rows<ConsoleHits["partners"][number]>(
      db,
      `select id, name from partners where name ilike ? or id::text = ?
       order by id::text <> ?, name not ilike ?, name, id limit ?`,
      [part, q, q, part.slice(1), limit],
    ),
    rows<ConsoleHits["keys"][number]>(
      db,
      `select k.id, k.partner_id, p.name as partner, k.prefix, k.label, k.revoked_at is not null as revoked
       from keys k join partners p on p.id = k.partner_id
       where k.prefix ilike ? or k.label ilike ? or starts_with(?, k.prefix) or k.id::text = ?
       order by k.id::text <> ?, revoked, k.id desc limit ?`,
      [part, part, q, q, q, limit],
    ),
  ]);
  return { partners, keys };
}
