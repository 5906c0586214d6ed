import { rows, type Statements } from "#src/infrastructure/db.ts";
import type { AdmitFacts, Admitted } from "#src/domain/admit.ts";
import { fromMs } from "#src/marks/marks.ts";

const msArray = (parameter: string): string =>
  `timestamptz 'epoch' + ${parameter} * interval '1 ms'`;

/**
 * Stores accepted marks with their reporters and external ids, in the transaction that admitted them.
 * Held and expired marks are done with: nothing waits to be folded.
 */
export async function storeMarks(
  tx: Statements,
  accepted: readonly Admitted[],
  { now, reporters }: Pick<AdmitFacts, "now" | "reporters">,
  reporterIds: ReadonlyMap<string, number>,
): Promise<void> {
  const met = toMeet(accepted, { now, reporters }, reporterIds);
  const of = <T>(pick: (mark: Admitted) => T): T[] => accepted.map(pick);
  const done = (mark: Admitted): boolean => mark.review !== "none";
  await rows(
    tx,
    `with m as materialized (
       select * from unnest(?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::int[], ?::int[], ?::text[], ?::text[], ?::text[],
         ?::text[], ?::bigint[], ?::float8[], ?::float8[], ?::float8[], ?::bool[], ?::text[], ?::text[], ?::text[],
         ?::text[], ?::int[], ?::bool[], ?::bool[], ?::bool[], ?::text[], ?::bool[], ?::int[], ?::text[], ?::bool[],
         ?::text[], ?::text[], ?::bool[], ?::text[], ?::text[])
       as m(id, station_id, reporter_id, reporter, partner_id, key_id, source, viewer, external_id, status, effective_at, lat,
         lon, acc_m, express, fuels, fuels_no, queue, prices, limit_l, limit_stated, no_cash, fuel_cards_only, comment,
         remote, needed, rule, newcomer, review, outcome, shared_network, held_reason,
         prices_needed)
     ), met as (
       insert into reporters (hash, partner_id, viewer, first_seen)
       select decode(hash, 'hex'), partner_id, decode(viewer, 'hex'), case when counts then ${fromMs} end
       from unnest(?::text[], ?::int[], ?::text[], ?::bool[]) as r(hash, partner_id, viewer, counts) order by hash
       on conflict (hash) do update set first_seen = excluded.first_seen
         where reporters.first_seen is null and excluded.first_seen is not null
       returning id, encode(hash, 'hex') as hash
     ), named as (
       -- An older row with this id is past its 30 days, or the mark would have been a duplicate.
       insert into mark_keys (partner_id, external_id, mark_id, station_id, at)
       select partner_id, external_id, id, station_id, ${fromMs} from m
       where external_id is not null and partner_id is not null
       on conflict (partner_id, external_id) do update
         set mark_id = excluded.mark_id, station_id = excluded.station_id, at = excluded.at
     )
     insert into marks (id, station_id, reporter_id, partner_id, key_id, source, viewer, external_id, status,
       received_at, effective_at, lat, lon, acc_m, express, fuels, fuels_no, queue, prices, limit_l, limit_stated,
       no_cash, fuel_cards_only, comment, remote, needed, rule, newcomer, review, processed_at, outcome, outcome_have,
       shared_network, held_reason, prices_needed)
     select id, station_id, coalesce(reporter_id, (select met.id from met where met.hash = m.reporter)), partner_id,
       key_id, source, decode(viewer, 'hex'), external_id, status,
       ${fromMs}, ${msArray("effective_at")}, lat, lon, acc_m, express,
       string_to_array(fuels, ','), string_to_array(fuels_no, ','), queue, prices::jsonb, limit_l, limit_stated,
       no_cash, fuel_cards_only, comment, remote, needed, rule, newcomer, review,
       case when outcome is not null then ${fromMs} end, outcome,
       case when outcome is not null then 0 end, shared_network, held_reason,
       prices_needed::jsonb
     from m`,
    [
      of((mark) => mark.id),
      of((mark) => mark.incomingMark.stationId),
      of((mark) => reporterIds.get(mark.incomingMark.reporter) ?? null),
      of((mark) => mark.incomingMark.reporter),
      of((mark) => mark.incomingMark.partnerId),
      of((mark) => mark.incomingMark.keyId),
      of((mark) => (mark.incomingMark.viewer === null ? "partner" : "widget")),
      of((mark) => mark.incomingMark.viewer),
      of((mark) => mark.incomingMark.externalId),
      of((mark) => mark.incomingMark.status),
      of((mark) => mark.effectiveAt),
      of((mark) => mark.incomingMark.lat),
      of((mark) => mark.incomingMark.lon),
      of((mark) => mark.incomingMark.accM),
      of((mark) => mark.incomingMark.express),
      of((mark) => mark.incomingMark.fuels?.join(",") ?? null),
      of((mark) => mark.incomingMark.fuelsNo?.join(",") ?? null),
      of((mark) => mark.incomingMark.queue ?? null),
      of((mark) => (mark.incomingMark.prices ? JSON.stringify(mark.incomingMark.prices) : null)),
      of((mark) => mark.incomingMark.limitL ?? null),
      of((mark) => mark.incomingMark.limitL !== undefined),
      of((mark) => mark.incomingMark.noCash ?? null),
      of((mark) => mark.incomingMark.fuelCardsOnly ?? null),
      of((mark) => mark.incomingMark.comment),
      of((mark) => mark.remote),
      of((mark) => mark.needed),
      of((mark) => mark.rule),
      of((mark) => mark.newcomer),
      of((mark) => mark.review),
      of((mark) => (done(mark) ? mark.review : null)),
      of((mark) => mark.sharedNetwork),
      of((mark) => (mark.review === "held" && mark.isBlocked ? "block" : null)),
      of((mark) => (mark.pricesNeeded === null ? null : JSON.stringify(mark.pricesNeeded))),
      now,
      met.map((mark) => mark.incomingMark.reporter),
      met.map((mark) => mark.incomingMark.partnerId),
      met.map((mark) => mark.incomingMark.viewer),
      met.map((mark) => mark.review !== "expired"),
      now,
      now,
      now,
    ],
    "store_marks",
  );
}

/** The mark that makes a reporter known, for new reporters and for known ones without an accepted mark. An expired mark
 * comes last, and gives no first-seen time. */
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
    const before = met.get(reporter);
    if (before === undefined || before.review === "expired") met.set(reporter, mark);
  }
  return [...met.values()];
}
