import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import type { Decision } from "#src/domain/decide.ts";
import type { StationState } from "#src/domain/state.ts";
import { instants, view } from "#src/domain/view.ts";
import type { StationWork } from "#workers/marks/load.ts";

export interface Decided {
  work: StationWork;
  decision: Decision;
}

/** Somebody else processed a mark although its station was locked here: the transaction must be undone. */
export class LostFence extends Error {}

/**
 * Writes what was decided: outcomes (fenced by `processed_at is null`, and counted), opinions, states, and last the
 * change feed. Returns the feed's number, or null when nothing that is served changed.
 */
export async function save(
  tx: Tx,
  decided: readonly Decided[],
  now: number,
  config: Config,
): Promise<number | null> {
  await dropOpinions(tx, decided);
  await write(tx, decided, now, config);
  const changed = decided
    .filter(({ work, decision }) => isChanged(work.facts.state, decision.state))
    .map(({ work }) => work.stationId);
  if (changed.length === 0) {
    // Whoever waits for an outcome must be woken all the same.
    await tx.raw("select pg_notify('changes', '')");
    return null;
  }
  const [stamp] = await rows<{ seq: number }>(tx, "select feed_stamp(?::text[]) as seq", [changed]);
  return stamp!.seq;
}

const isChanged = (before: StationState, after: StationState): boolean =>
  JSON.stringify({ ...before, last: null }) !== JSON.stringify({ ...after, last: null });

/** The opinions of a station are what its fold carries: those that it dropped go. */
async function dropOpinions(tx: Tx, decided: readonly Decided[]): Promise<void> {
  const gone = decided.flatMap(({ work, decision }) =>
    work.facts.opinions
      .filter((mark) => !decision.opinions.has(mark.reporterId))
      .map((mark) => ({ stationId: work.stationId, reporterId: mark.reporterId })),
  );
  if (gone.length === 0) return;
  await tx.raw(
    `delete from opinions o using unnest(?::text[], ?::bigint[]) as g(station_id, reporter_id)
     where o.station_id = g.station_id and o.reporter_id = g.reporter_id`,
    [gone.map((one) => one.stationId), gone.map((one) => one.reporterId)] as never,
  );
}

/**
 * Outcomes, opinions that changed, and states, in one statement: the stations are locked meanwhile. Throws LostFence
 * when one of the marks was processed already.
 */
async function write(
  tx: Tx,
  decided: readonly Decided[],
  now: number,
  config: Config,
): Promise<void> {
  const outcomes = decided.flatMap(({ decision }) => [...decision.outcomes]);
  const fresh = decided.flatMap(({ work, decision }) => {
    const known = new Set(work.facts.opinions.map((mark) => mark.id));
    return [...decision.opinions.values()]
      .filter((mark) => !known.has(mark.id))
      .map((mark) => ({ stationId: work.stationId, mark }));
  });
  const next = (state: StationState): number | null =>
    instants(state, config.statusLifetimeMs).find((at) => at > now) ?? null;
  const [written] = await rows<{ count: number }>(
    tx,
    `with outcome as (
       update marks set processed_at = server_now(), outcome = o.outcome, outcome_status = o.status,
         outcome_reason = o.reason, outcome_have = o.have
       from (select * from unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::int[])
         as o(id, outcome, status, reason, have)) o
       where marks.id = o.id and marks.id = any(?::bigint[]) and marks.processed_at is null
       returning marks.id
     ), opinion as (
       insert into opinions (station_id, reporter_id, mark_id, effective_at, mark)
       select station_id, reporter_id, mark_id, timestamptz 'epoch' + at * interval '1 ms', mark::jsonb
       from unnest(?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[])
         as f(station_id, reporter_id, mark_id, at, mark)
       on conflict (station_id, reporter_id) do update
         set mark_id = excluded.mark_id, effective_at = excluded.effective_at, mark = excluded.mark
     ), state as (
       update station_status st set state = d.state::jsonb, status = d.status, refold = false,
         updated_at = server_now(), next_at = timestamptz 'epoch' + d.next * interval '1 ms'
       from unnest(?::text[], ?::text[], ?::text[], ?::bigint[]) as d(station_id, state, status, next)
       where st.station_id = d.station_id and st.station_id = any(?::text[])
     )
     select count(*) as count from outcome`,
    [
      outcomes.map(([id]) => id),
      outcomes.map(([, is]) => is.outcome),
      outcomes.map(([, is]) => is.status),
      outcomes.map(([, is]) => is.reason),
      outcomes.map(([, is]) => is.have),
      outcomes.map(([id]) => id),
      fresh.map((one) => one.stationId),
      fresh.map((one) => one.mark.reporterId),
      fresh.map((one) => one.mark.id),
      fresh.map((one) => one.mark.at),
      fresh.map((one) => JSON.stringify(one.mark)),
      decided.map(({ work }) => work.stationId),
      decided.map(({ decision }) => JSON.stringify(decision.state)),
      decided.map(({ decision }) => view(decision.state, now, config.statusLifetimeMs).status),
      decided.map(({ decision }) => next(decision.state)),
      decided.map(({ work }) => work.stationId),
    ],
  );
  if (written!.count !== outcomes.length)
    throw new LostFence(`${written!.count} of ${outcomes.length} marks were unprocessed`);
}
