import type { Clock } from "#src/infrastructure/clock.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import {
  type AdmitFacts,
  type Admitted,
  externalKey,
  type IncomingMark,
  type ReporterFacts,
} from "#src/domain/admit.ts";
import type { PendingStatus } from "#src/domain/widget-confirmation.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { columnsOf, grouped } from "#src/infrastructure/lists.ts";
import { lockIntake } from "#src/infrastructure/locks.ts";
import { loadStationFacts } from "#src/marks/station-facts.ts";
import { fromMs, idAfter, idsSince, msOf } from "#src/marks/marks.ts";

/** Locks the batch's scopes, one per partner and one for the widget. */
export const lockScopes = (tx: Statements, batch: readonly IncomingMark[]): Promise<void> =>
  lockIntake(
    tx,
    batch.map((mark) => mark.partnerId ?? 0),
  );

/** The rows of the one statement that reads the facts about a batch. */
export interface FactRows {
  now: number;
  sequences: number[];
  reporters: { hash: string; id: number; first_seen: number | null }[] | null;
  named: NamedRow[] | null;
  past: PastRow[] | null;
  partners: Newcomers[] | null;
  shared: string[] | null;
  blocked: string[] | null;
  nearby: { station_id: string; first: number; last: number }[] | null;
}

interface NamedRow {
  partner_id: number;
  external_id: string;
  id: number;
  station_id: string;
  at: number;
}

interface PastRow {
  id: number;
  reporter_id: number;
  station_id: string;
  status: Status;
  external_id: string | null;
  received_at: number;
  effective_at: number;
  lat: number | null;
  lon: number | null;
  taken_back: boolean;
}

interface Newcomers {
  partner_id: number;
  count: number;
  freeAt: number | null;
}

/**
 * The facts about a batch from the database, and a sequence number for each mark. Read after the scopes are locked,
 * not in the same statement: its snapshot would be from before the wait.
 */
export async function readFacts(
  tx: Statements,
  batch: readonly IncomingMark[],
  config: Config,
  clock: Clock,
): Promise<{ facts: AdmitFacts; sequences: number[]; reporterIds: Map<string, number> }> {
  const found = await find(tx, batch, config, clock());
  const { facts, reporterIds } = factsOf(found, config);
  facts.pendingStatus = await readPendingStatus(tx, batch, facts.now, config);
  return { facts, sequences: found.sequences, reporterIds };
}

/** The facts of stations that a mark of the batch confirms, with their marks that still wait for a worker. */
export async function readPendingStatus(
  tx: Statements,
  batch: readonly IncomingMark[],
  now: number,
  config: Config,
): Promise<Map<string, PendingStatus>> {
  const confirmed = new Set(batch.flatMap((mark) => (mark.confirms ? mark.stationId : [])));
  if (confirmed.size === 0) return new Map();
  // Any mark of the batch may come before a confirmation: with an earlier time, it makes the history necessary.
  const positions = batch.map(({ stationId, observedAt }, index) => {
    const at = Math.min(observedAt ?? now, now);
    return { stationId, at, id: idAfter(now) + index };
  });
  const fresh = positions.filter(({ at }) => now - at <= config.statusLifetimeMs);
  const coming = grouped(fresh, ({ stationId }) => stationId);
  const found = await loadStationFacts(tx, [...confirmed], { now, coming }, config);
  return new Map(
    found.stations.map(({ stationId, facts, arrivals }) => [
      stationId,
      {
        facts,
        waiting: [...arrivals.marks],
        firstSeen: new Map(found.firstSeen),
        strangers: new Map(),
      },
    ]),
  );
}

/** The rows as `admit` wants them; stations that a mark of the batch confirms are read apart. Pure. */
export function factsOf(
  found: FactRows,
  config: Pick<Config, "externalIdDays">,
): { facts: AdmitFacts; reporterIds: Map<string, number> } {
  const { now } = found;
  const stored = found.reporters ?? [];
  const reporters = new Map<string, ReporterFacts>();
  const byId = new Map<number, ReporterFacts>();
  for (const { hash, id, first_seen: firstSeen } of stored) {
    const reporter = { identity: String(id), firstSeen, recent: [], located: [] };
    reporters.set(hash, reporter);
    byId.set(id, reporter);
  }
  for (const row of found.past ?? []) remember(byId.get(row.reporter_id)!, row, now);
  const named = (found.named ?? []).filter((row) => row.at > now - config.externalIdDays * dayMs);
  const facts: AdmitFacts = {
    now,
    reporters,
    externalIds: new Map(
      named.map(({ partner_id, external_id, id, station_id: stationId }) => [
        externalKey(partner_id, external_id),
        { id, stationId },
      ]),
    ),
    newReporters: new Map(
      (found.partners ?? []).map(({ partner_id, count, freeAt }) => [
        partner_id,
        { count, freeAt: freeAt ?? now },
      ]),
    ),
    nearby: new Map(
      (found.nearby ?? []).map(({ station_id, first, last }) => [
        station_id,
        new Set([String(first), String(last)]),
      ]),
    ),
    sharedNetworks: new Set(found.shared),
    blocked: new Set(found.blocked),
    pendingStatus: new Map(),
  };
  const reporterIds = new Map(stored.map(({ hash, id }) => [hash, id]));
  return { facts, reporterIds };
}

/** Half the equator: no two places are further apart. */
const halfwayKm = 20_038;

/**
 * Reads all facts in one statement, because round trips make up a batch's time: each reporter's marks of the last day,
 * and located ones for as long as a movement from them may be impossible; newcomers of the last day, for partners with
 * a new reporter; viewers' networks that many people share; for
 * each station near a `no` the first and the last reporter with a fresh mark: two are enough to know whether there is
 * another.
 */
async function find(
  tx: Statements,
  batch: readonly IncomingMark[],
  config: Config,
  now: number,
): Promise<FactRows> {
  const asked = batch.filter((mark) => mark.externalId !== null && mark.partnerId !== null);
  const who = new Map(batch.map((mark) => [mark.reporter, mark]));
  const nearby = new Set(
    batch.flatMap((mark) => (mark.status === "no" && mark.confirmMin === 0 ? mark.nearbyIds : [])),
  );
  // `now` only chooses the partitions to search, with days to spare.
  const { speedMaxKmh, statusLifetimeMs } = config;
  const { nearbyFreshMs, sharedNetworkMs, sharedNetworkDevices } = config;
  const within = (reachMs: number): string => idsSince(now - reachMs - dayMs, now, "marks.id");
  const ago = (ms: number): string => `(select now - ${ms} * interval '1 ms' from clock)`;
  const [found] = await rows<FactRows>(
    tx,
    `with clock as materialized (select steady_now() as now),
     who as materialized (
       select a.hash as hex, a.partner_id, a.viewer, a.most, r.id, r.hash, r.first_seen, r.blocked_until
       from unnest(?::text[], ?::int[], ?::text[], ?::int[]) as a(hash, partner_id, viewer, most)
       left join reporters r on r.hash = decode(a.hash, 'hex'))
     select (select ${msOf("now")} from clock) as now,
       array(select nextval('mark_seq')::float8 from generate_series(1, ?::int)) as sequences,
       (select json_agg(json_build_object('hash', hex, 'id', id, 'first_seen', ${msOf("first_seen")}))
        from who where id is not null) as reporters,
       (select json_agg(json_build_object('partner_id', k.partner_id, 'external_id', k.external_id, 'id', k.mark_id,
          'station_id', k.station_id, 'at', ${msOf("k.at")}))
        from unnest(?::int[], ?::text[]) as a(partner_id, external_id) cross join lateral (
          -- The limit makes it one probe of the index each, where a join would read the whole table.
          select * from mark_keys where partner_id = a.partner_id and external_id = a.external_id limit 1) k) as named,
       (select json_agg(p) from (
          select marks.id, reporter_id, station_id, status, external_id, ${msOf("received_at")} as received_at,
            ${msOf("effective_at")} as effective_at, lat, lon, taken_back_at is not null as taken_back
          -- The offset makes it one probe of the index each: a plan for a table that was empty would read all of it.
          from who cross join lateral (select * from marks where reporter_id = who.id
            and ${within(dayMs + (halfwayKm / speedMaxKmh) * hourMs)} and review <> 'expired' offset 0) marks) p) as past,
       (select json_agg(q) from (
          select p.partner_id, n as count, (
              -- The last one that must leave the day before the next one has a place.
              select ${msOf("first_seen")} from reporters where partner_id = p.partner_id and viewer is null
                and first_seen > ${ago(dayMs)} order by first_seen offset greatest(n - most, 0) limit 1) as "freeAt"
          from (select partner_id, max(most) as most from who
            where first_seen is null and viewer is null group by partner_id) p
          cross join lateral (select count(*) as n from reporters where partner_id = p.partner_id
            and viewer is null and first_seen > ${ago(dayMs)}) c) q) as partners,
       (select json_agg(v.viewer) from (select distinct viewer from who where viewer is not null) v
        where (select count(*) from (
          select from reporters r where r.viewer = decode(v.viewer, 'hex') and r.first_seen < ${ago(sharedNetworkMs)}
          limit ${sharedNetworkDevices}) old) >= ${sharedNetworkDevices}) as shared,
       (select json_agg(hex) from (
          select hex from who where blocked_until > (select now from clock)
          union select encode(viewer, 'hex') from network_blocks
          where until > (select now from clock) and viewer = any(array(select decode(viewer, 'hex') from who))) b) as blocked,
       (select json_agg(q) from (
          select station_id, min(reporter_id) as first, max(reporter_id) as last
          from unnest(?::text[]) as near(id) cross join lateral (select * from marks where station_id = near.id
            and ${within(statusLifetimeMs)} and effective_at > ${ago(nearbyFreshMs)}
            and review in ('none', 'approved') offset 0) marks
          group by station_id) q) as nearby`,
    [
      [...who.keys()],
      [...who.values()].map((mark) => mark.partnerId),
      [...who.values()].map((mark) => mark.viewer),
      [...who.values()].map((mark) => mark.newUsersLimit),
      batch.length,
      asked.map((mark) => mark.partnerId),
      asked.map((mark) => mark.externalId),
      [...nearby],
    ],
    "find_facts",
  );
  return found!;
}

function remember(reporter: ReporterFacts, row: PastRow, now: number): void {
  const { id, effective_at: at, received_at: receivedAt } = row;
  if (receivedAt > now - dayMs) {
    const { station_id: stationId, status, external_id: externalId, taken_back: takenBack } = row;
    const past = { id, stationId, status, receivedAt, effectiveAt: at, externalId, takenBack };
    reporter.recent.push(past);
  }
  if (row.lat !== null && row.lon !== null)
    reporter.located.push({ id, lat: row.lat, lon: row.lon, at });
}

/** A column of `marks` at intake: its name, the type and value that are bound, and the SQL of its value where it is another. */
type Column = readonly [
  name: string,
  type: string,
  value: (mark: Admitted) => unknown,
  sql?: string,
];

/** Columns with values of the mark as it came, and as it was admitted. */
const said = (type: string, of: Record<string, keyof IncomingMark>): Column[] =>
  Object.entries(of).map(([name, one]) => [name, type, (mark) => mark.incomingMark[one] ?? null]);
const judged = (type: string, of: Record<string, keyof Admitted>): Column[] =>
  Object.entries(of).map(([name, one]) => [name, type, (mark) => mark[one]]);
const list = (name: string, one: "fuels" | "fuelsNo"): Column => [
  ...([name, "text"] as const),
  ({ incomingMark }) => incomingMark[one]?.join() ?? null,
  `string_to_array(${name}, ',')`,
];
const json = (value: object | null | undefined): string | null =>
  value ? JSON.stringify(value) : null;
const sourceOf = ({ viewer }: IncomingMark): string => (viewer === null ? "partner" : "widget");

const columns: readonly Column[] = [
  ...said("int", { partner_id: "partnerId", key_id: "keyId", limit_l: "limitL" }),
  ...said("text", { station_id: "stationId", external_id: "externalId", status: "status" }),
  ...said("text", { queue: "queue", comment: "comment" }),
  ...said("float8", { lat: "lat", lon: "lon", acc_m: "accM" }),
  ...said("bool", { express: "express", no_cash: "noCash", fuel_cards_only: "fuelCardsOnly" }),
  ...judged("bigint", { id: "id" }),
  ...judged("int", { needed: "needed" }),
  ...judged("text", { rule: "rule", review: "review" }),
  ...judged("bool", { remote: "remote", newcomer: "newcomer", shared_network: "sharedNetwork" }),
  list("fuels", "fuels"),
  list("fuels_no", "fuelsNo"),
  ["limit_stated", "bool", ({ incomingMark: { limitL } }) => limitL !== undefined],
  ["prices", "text", ({ incomingMark: { prices } }) => json(prices), "prices::jsonb"],
  ["prices_needed", "text", (mark) => json(mark.pricesNeeded), "prices_needed::jsonb"],
  ["source", "text", ({ incomingMark }) => sourceOf(incomingMark)],
  ["viewer", "text", ({ incomingMark }) => incomingMark.viewer, "decode(viewer, 'hex')"],
  ["effective_at", "bigint", ({ effectiveAt }) => effectiveAt, `epoch + effective_at * ms`],
  // Held marks are done with: nothing waits to be folded.
  ["outcome", "text", ({ review }) => (review === "none" ? null : review)],
  ["held_reason", "text", (mark) => (mark.review === "held" && mark.isBlocked ? "block" : null)],
];
const names = columns.map(([name]) => name).join(", ");

const storeSql = `with m as materialized (
    select * from unnest(?::text[], ?::bigint[], ${columns.map(([, type]) => `?::${type}[]`).join(", ")})
      as m(reporter, reporter_id, ${names})
  ), met as (
    insert into reporters (hash, partner_id, viewer, first_seen)
    select decode(hash, 'hex'), partner_id, decode(viewer, 'hex'), ${fromMs}
    from unnest(?::text[], ?::int[], ?::text[]) as r(hash, partner_id, viewer) order by hash
    on conflict (hash) do update set first_seen = excluded.first_seen where reporters.first_seen is null
    returning id, encode(hash, 'hex') as hash
  ), named as (
    -- An older row with this id is past its 30 days, or the mark would have been a duplicate.
    insert into mark_keys (partner_id, external_id, mark_id, station_id, at)
    select partner_id, external_id, id, station_id, ${fromMs} from m
    where external_id is not null and partner_id is not null
    on conflict (partner_id, external_id) do update
      set mark_id = excluded.mark_id, station_id = excluded.station_id, at = excluded.at
  )
  insert into marks (${names}, reporter_id, received_at, processed_at, outcome_have)
  select ${columns.map(([name, , , sql]) => sql ?? name).join(", ")},
    coalesce(reporter_id, (select met.id from met where met.hash = m.reporter)), ${fromMs},
    case when outcome is not null then ${fromMs} end, case when outcome is not null then 0 end
  from m, (select timestamptz 'epoch' as epoch, interval '1 ms' as ms) units`;

/** Stores accepted marks with their reporters and external ids, in the transaction that admitted them. */
export async function storeMarks(
  tx: Statements,
  accepted: readonly Admitted[],
  { now, reporters }: Pick<AdmitFacts, "now" | "reporters">,
  reporterIds: ReadonlyMap<string, number>,
): Promise<void> {
  const who = accepted.map(({ incomingMark: { reporter } }) => reporter);
  const met = toMeet(accepted, { now, reporters }, reporterIds);
  await rows(
    tx,
    storeSql,
    [
      ...[who, who.map((reporter) => reporterIds.get(reporter) ?? null)],
      ...columns.map(([, , value]) => accepted.map(value)),
      now,
      ...columnsOf(
        met.map(({ incomingMark }) => incomingMark),
        ...(["reporter", "partnerId", "viewer"] as const),
      ),
      ...[now, now, now],
    ],
    "store_marks",
  );
}

/** The first mark of each reporter that this batch makes known. */
function toMeet(
  accepted: readonly Admitted[],
  { now, reporters }: Pick<AdmitFacts, "now" | "reporters">,
  reporterIds: ReadonlyMap<string, number>,
): Admitted[] {
  const met = new Map<string, Admitted>();
  for (const mark of accepted) {
    const { reporter } = mark.incomingMark;
    // `admit` has noted the first-seen time of those that this batch makes known.
    if (reporterIds.has(reporter) && reporters.get(reporter)?.firstSeen !== now) continue;
    if (!met.has(reporter)) met.set(reporter, mark);
  }
  return [...met.values()];
}
