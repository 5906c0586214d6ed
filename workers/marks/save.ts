import type { Config } from "#src/config.ts";
import { rows, type Tx } from "#src/db.ts";
import type { Decision } from "#src/domain/decide.ts";
import type { StationState } from "#src/domain/state.ts";
import { instants, view } from "#src/domain/view.ts";
import { saveOutcomes } from "#src/marks.ts";
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
  const outcomes = new Map(decided.flatMap(({ decision }) => [...decision.outcomes]));
  const written = await saveOutcomes(tx, outcomes);
  if (written !== outcomes.size)
    throw new LostFence(`${written} of ${outcomes.size} marks were unprocessed`);
  await saveOpinions(tx, decided);
  await saveStates(tx, decided, now, config);
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

/** The opinions of a station are what its fold carries: those that it dropped go, those that changed are replaced. */
async function saveOpinions(tx: Tx, decided: readonly Decided[]): Promise<void> {
  const before = decided.flatMap(({ work }) =>
    work.facts.opinions.map((mark) => ({ stationId: work.stationId, mark })),
  );
  const kept = new Map(decided.map(({ work, decision }) => [work.stationId, decision.opinions]));
  const gone = before.filter(({ stationId, mark }) => !kept.get(stationId)!.has(mark.reporterId));
  const known = new Set(before.map(({ mark }) => mark.id));
  const fresh = decided.flatMap(({ work, decision }) =>
    [...decision.opinions.values()]
      .filter((mark) => !known.has(mark.id))
      .map((mark) => ({ stationId: work.stationId, mark })),
  );
  if (gone.length > 0) {
    await tx.raw(
      `delete from opinions o using unnest(?::text[], ?::bigint[]) as g(station_id, reporter_id)
       where o.station_id = g.station_id and o.reporter_id = g.reporter_id`,
      [gone.map((one) => one.stationId), gone.map((one) => one.mark.reporterId)] as never,
    );
  }
  if (fresh.length === 0) return;
  await tx.raw(
    `insert into opinions (station_id, reporter_id, mark_id, effective_at, mark)
     select station_id, reporter_id, mark_id, timestamptz 'epoch' + at * interval '1 ms', mark::jsonb
     from unnest(?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[]) as f(station_id, reporter_id, mark_id, at, mark)
     on conflict (station_id, reporter_id) do update
       set mark_id = excluded.mark_id, effective_at = excluded.effective_at, mark = excluded.mark`,
    [
      fresh.map((one) => one.stationId),
      fresh.map((one) => one.mark.reporterId),
      fresh.map((one) => one.mark.id),
      fresh.map((one) => one.mark.at),
      fresh.map((one) => JSON.stringify(one.mark)),
    ] as never,
  );
}

async function saveStates(
  tx: Tx,
  decided: readonly Decided[],
  now: number,
  config: Config,
): Promise<void> {
  const next = (state: StationState): number | null =>
    instants(state, config.statusLifetimeMs).find((at) => at > now) ?? null;
  await tx.raw(
    `update station_status st set state = d.state::jsonb, status = d.status, refold = false, updated_at = server_now(),
       next_at = timestamptz 'epoch' + d.next * interval '1 ms'
     from unnest(?::text[], ?::text[], ?::text[], ?::bigint[]) as d(station_id, state, status, next)
     where st.station_id = d.station_id`,
    [
      decided.map(({ work }) => work.stationId),
      decided.map(({ decision }) => JSON.stringify(decision.state)),
      decided.map(({ decision }) => view(decision.state, now, config.statusLifetimeMs).status),
      decided.map(({ decision }) => next(decision.state)),
    ] as never,
  );
}
