import { raiseAlarms } from "#src/alarms/raise.ts";
import type { OffReason } from "#src/domain/vocabulary.ts";
import { givenOut } from "#src/feed/feed.ts";
import { type Db, rows, type Statements } from "#src/infrastructure/db.ts";
import { pipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { msOf } from "#src/marks/marks.ts";
import { failuresOf } from "#src/pushes/failures.ts";

/** Stations or marks of one delivery. */
const batchMax = 100;
/** Most endpoints that one look wakes, those first that waited longest; the others come with the next look. */
export const wokenAtOnce = 200;

/**
 * SQL for an endpoint `e` that may be sent to now: it is on, its pause is over, and its partner still has access, with
 * a secret key in force.
 */
const mayBeSent = `e.off_at is null and e.next_at <= server_now() and e.claimed_until <= server_now()
  and exists (select from partners p where p.id = e.partner_id and p.enabled)
  and exists (select from keys k where k.partner_id = e.partner_id and k.kind = 'secret' and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > server_now()))`;

/** SQL: stations have changed for an endpoint `e`, and its pause between two batches is over. Binds that pause, ms. */
const stationsAreDue = `'stations.changed' = any(e.events)
  and e.stations_at <= server_now() - ?::int * interval '1 ms'
  and (e.change_seq < (select max(seq) from ${givenOut("changes")})
    or e.time_change_seq < (select max(seq) from ${givenOut("time_changes")}))`;

/** SQL: a delivery, or an event for one, waits for an endpoint `e`. Binds the same. */
const somethingWaits = `(
  exists (select from webhook_deliveries d where d.endpoint_id = e.id and d.delivered_at is null)
  or exists (select from webhook_outcomes o where o.endpoint_id = e.id) or ${stationsAreDue})`;

/** Wakes the webhooks workers for every endpoint with waiting events. Gives the number of these endpoints. */
export async function wakeDue(
  db: Db,
  producer: Pick<Producer, "wakeEndpoints">,
  stationsGapMs: number,
): Promise<number> {
  const sql = `select e.id from webhook_endpoints e where ${mayBeSent} and ${somethingWaits}
     order by e.failures > 0, e.tried_at limit ${wokenAtOnce}`;
  const due = await rows<{ id: number }>(db, sql, [stationsGapMs]);
  await producer.wakeEndpoints(due.map(({ id }) => id));
  return due.length;
}

/** A delivery to send, with the data of its endpoint. */
export interface ClaimedDelivery {
  endpointId: number;
  partnerId: number;
  /** Fences the writes about the attempt. */
  claim: number;
  url: string;
  /** Sealed; the new one first. */
  secrets: Buffer[];
  /** Failures in a row before this attempt, and the time of the first, ms. */
  failures: number;
  failingSince: number | null;
  delivery: {
    id: number;
    message_id: string;
    type: string;
    data: { stations?: string[]; marks?: number[] };
    /** ms. */
    created: number;
    /** For a batch of stations: the time, ms, before which the endpoint has been told of every change. */
    toldUntil: number | null;
  };
}

interface ClaimedEndpoint extends Omit<ClaimedDelivery, "delivery"> {
  /** Types of the deliveries that wait. */
  waiting: string[];
  wantsStations: boolean;
}

/**
 * Claims an endpoint for `claimMs` and gives its oldest delivery; null when another process has it, or nothing waits, or
 * its last attempt failed and none that `mayFail` is wanted.
 * It makes deliveries of the events since the last claim: changed stations after the endpoint's cursors, and outcomes of
 * marks, one batch of each at a time.
 */
export const claimDelivery = (
  db: Db,
  endpointId: number,
  { claimMs, stationsGapMs, mayFail }: { claimMs: number; stationsGapMs: number; mayFail: boolean },
): Promise<ClaimedDelivery | null> =>
  pipelinedTransaction(db, async (tx) => {
    const [claimed] = await rows<ClaimedEndpoint>(
      tx,
      `update webhook_endpoints e set claims = claims % 1000000000000 + 1, tried_at = server_now(),
         claimed_until = server_now() + ?::int * interval '1 ms',
         ${failuresOf("e")}
       where e.id = ? and (e.failures = 0 or ?::bool) and ${mayBeSent} and ${somethingWaits}
       returning e.id as "endpointId", e.partner_id as "partnerId", e.claims as claim, e.url, e.failures,
         ${msOf("e.failing_since")} as "failingSince",
         array_remove(array[e.secret, case when e.old_secret_until > server_now() then e.old_secret end], null) as secrets,
         array(select distinct d.type from webhook_deliveries d where d.endpoint_id = e.id and d.delivered_at is null)
           as waiting,
         ${stationsAreDue} as "wantsStations"`,
      [claimMs, endpointId, mayFail, stationsGapMs, stationsGapMs],
      "webhook_claim",
    );
    if (claimed === undefined) return null;
    const { waiting, wantsStations, ...endpoint } = claimed;
    const isFree = (type: string): boolean => !waiting.includes(type);
    // One round trip, in this order.
    const made = [
      wantsStations && isFree("stations.changed") ? batchStations(tx, endpointId) : null,
      isFree("report.processed") ? batchOutcomes(tx, endpointId) : null,
    ];
    const [[delivery]] = await Promise.all([oldestDelivery(tx, endpointId), ...made]);
    if (delivery !== undefined) return { ...endpoint, delivery };
    await rows(tx, "update webhook_endpoints set claimed_until = '-infinity' where id = ?", [
      endpointId,
    ]);
    return null;
  });

/**
 * The delivery to send next. `toldUntil` is the time of the first change, by a mark or by the passing of time, that is
 * in no delivery of this endpoint: it has been told of every change before.
 */
const oldestDelivery = (
  tx: Statements,
  endpointId: number,
): Promise<ClaimedDelivery["delivery"][]> =>
  rows(
    tx,
    `select d.id, d.message_id, d.type, d.data, ${msOf("d.created_at")} as created,
       case when d.type = 'stations.changed' then ${msOf(`least(
         coalesce((select at from ${givenOut("changes")} where seq > e.change_seq order by seq limit 1),
           (select at from ${givenOut("changes")} order by seq desc limit 1)),
         (select at from ${givenOut("time_changes")} where seq > e.time_change_seq order by at limit 1),
         (select min(next_at) from station_status))`)} end as "toldUntil"
     from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
     where d.endpoint_id = ? and d.delivered_at is null order by d.id limit 1`,
    [endpointId],
    "webhook_oldest",
  );

/**
 * The next changed stations in the order of their commits, taken from both cursors by turns, so that neither waits until
 * the other has no more. A pause follows a batch that is not full.
 */
async function batchStations(tx: Statements, endpointId: number): Promise<void> {
  const after = (table: "changes" | "time_changes", cursor: string): string =>
    `select station_id, seq, '${cursor}' as cursor, row_number() over (order by seq) as place from ${givenOut(table)}
     where seq > (select ${cursor} from webhook_endpoints where id = ?) order by seq limit ${batchMax}`;
  const last = (cursor: string): string =>
    `${cursor} = greatest(e.${cursor}, (select max(seq) from chosen where cursor = '${cursor}'))`;
  const sql = `with chosen as (
       select * from ((${after("changes", "change_seq")}) union all (${after("time_changes", "time_change_seq")})) w
       order by place limit ${batchMax}
     ), made as (
       insert into webhook_deliveries (endpoint_id, type, data)
       select ?, 'stations.changed', jsonb_build_object('stations', jsonb_agg(distinct station_id order by station_id))
       from chosen having count(*) > 0
     )
     update webhook_endpoints e set ${last("change_seq")}, ${last("time_change_seq")},
       stations_at = case when (select count(*) from chosen) = ${batchMax} then e.stations_at else server_now() end
     where e.id = ? and exists (select from chosen)`;
  await rows(tx, sql, [endpointId, endpointId, endpointId, endpointId], "webhook_stations");
}

/** The next outcomes of the partner's marks. Rows that are committed later are taken later, so none is lost. */
async function batchOutcomes(tx: Statements, endpointId: number): Promise<void> {
  const sql = `with taken as (
       delete from webhook_outcomes where id = any(array(
         select id from webhook_outcomes where endpoint_id = ? order by id limit ${batchMax}))
       returning id, mark_id
     )
     insert into webhook_deliveries (endpoint_id, type, data)
     select ?, 'report.processed', jsonb_build_object('marks', jsonb_agg(mark_id order by id))
     from taken having count(*) > 0`;
  await rows(tx, sql, [endpointId, endpointId], "webhook_outcomes");
}

/** The result of an attempt. */
export interface Attempt {
  status: number | null;
  answer: string | null;
  fault: string | null;
  durationMs: number;
}

/** The consequence of an attempt for its endpoint. */
export type Verdict = { pauseMs: number } | { off: OffReason } | "taken";

/**
 * Stores an attempt and its consequence, and ends the claim. False when the claim was over and another process has the
 * endpoint: nothing is stored then, and the delivery is sent once more.
 */
export const settleDelivery = (
  db: Db,
  { endpointId, partnerId, claim, delivery }: ClaimedDelivery,
  { status, answer, fault, durationMs }: Attempt,
  verdict: Verdict,
  now: number,
): Promise<boolean> =>
  pipelinedTransaction(db, async (tx) => {
    const isTaken = verdict === "taken";
    const pauseMs = verdict !== "taken" && "pauseMs" in verdict ? verdict.pauseMs : 0;
    const off = verdict !== "taken" && "off" in verdict ? verdict.off : null;
    const fencing = isTaken
      ? rows(
          tx,
          `update webhook_endpoints set claimed_until = '-infinity', failures = 0, failing_since = null,
             next_at = '-infinity' where id = ? and claims = ? returning 1`,
          [endpointId, claim],
          "webhook_taken",
        )
      : rows(
          tx,
          `update webhook_endpoints set claimed_until = '-infinity', failures = least(failures, 1000000) + 1,
             failing_since = coalesce(failing_since, server_now()), next_at = server_now() + ?::bigint * interval '1 ms',
             off_at = coalesce(off_at, case when ?::text is not null then server_now() end),
             off_reason = coalesce(off_reason, ?::text)
           where id = ? and claims = ? returning 1`,
          [pauseMs, off, off, endpointId, claim],
          "webhook_failed",
        );
    const storing = rows(
      tx,
      `update webhook_deliveries d set attempts = least(d.attempts, 1000000) + 1, tried_at = server_now(), status = ?, answer = ?,
         fault = ?, duration_ms = ?, delivered_at = case when ?::boolean then server_now() end
       from webhook_endpoints e where d.id = ? and e.id = d.endpoint_id and e.claims = ?`,
      [status, answer, fault, durationMs, isTaken, delivery.id, claim],
      "webhook_attempt",
    );
    const [fenced] = await Promise.all([fencing, storing]);
    if (fenced.length === 0) return false;
    if (off !== null)
      await raiseAlarms(tx, [
        {
          ...{ kind: "webhook-off", at: now, subject: { code: "partner", partner: partnerId } },
          details: { webhook: endpointId, reason: off },
        },
      ]);
    return true;
  });
