import { isDeepStrictEqual } from "node:util";
import type { Config } from "#src/infrastructure/config.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { columnsOf } from "#src/infrastructure/lists.ts";
import type { Point } from "#src/domain/geo.ts";
import type { StationState } from "#src/domain/state.ts";
import { runsChangedBy, runsOfRefold, transitions, statusAt } from "#src/domain/view.ts";
import { firstIdOfDay, fromMs, hotMs, idAfter, idsBetween } from "#src/marks/marks.ts";
import { keptWholeSince, type StationRuns, writeRuns } from "#src/marks/stored-runs.ts";
import type { PipelinedTransaction } from "#src/infrastructure/pipelined-transaction.ts";
import { countHarmful } from "#src/alarms/harmful-counts.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { outcomesTold } from "#src/pushes/webhooks/outbox.ts";
import type { Decided, Reviewed } from "#workers/marks/hold-harmful.ts";

/** The served changes of a transaction: their places, and the change feed's highest number. */
export interface Changed {
  places: readonly Point[];
  seq: number;
}

/** True when another process processed a mark although its station was locked here. */
export const isLostFence = (error: unknown): boolean =>
  (error as { code?: string }).code === "FM001";

/**
 * Writes the decisions and commits, in one round trip: outcomes (fenced by `processed_at is null`, and counted),
 * opinions, states, changed status runs, the review's counts and held marks, and last the change feed. Returns null
 * when nothing that is served changed.
 */
export async function save(
  tx: PipelinedTransaction,
  { decided, ...reviewed }: Reviewed,
  now: number,
  config: Config,
): Promise<Changed | null> {
  const changed = decided.filter(isChanged);
  const [, , , , seq] = await Promise.all([
    dropOpinions(tx, decided),
    write(tx, decided, new Set(changed), now, config),
    writeReview(tx, reviewed, now),
    writeRuns(
      tx,
      decided.flatMap((one) => runsOf(one, now, config)),
      now,
    ),
    stamp(
      tx,
      changed.map(({ work }) => work.stationId),
    ),
    tx.commit(),
  ]);
  return seq === null ? null : { places: changed.map(({ work }) => work.place), seq };
}

/** Writes the changes that the review counted for its limits, the held marks, and the alarms about them. */
async function writeReview(
  tx: Statements,
  { counted, held, harmful, alarms }: Omit<Reviewed, "decided">,
  now: number,
): Promise<void> {
  const statements: Promise<unknown>[] = [];
  if (counted.length > 0)
    statements.push(
      rows(
        tx,
        `insert into review_changes (mark_id, at, station_id, source, city, from_status, to_status)
         select mark_id, ${fromMs}, station_id, source, city, from_status, to_status
         from unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
           as c(mark_id, station_id, source, city, from_status, to_status)
         on conflict (mark_id) do nothing`,
        [now, ...columnsOf(counted, "markId", "stationId", "source", "city", "from", "to")],
        "save_review_changes",
      ),
    );
  if (held.length > 0) {
    const ids = held.map(({ markId }) => markId);
    const sql = `update marks set review = 'held', held_reason = h.reason
      from unnest(?::bigint[], ?::text[]) as h(id, reason) where marks.id = h.id and marks.id = any(?::bigint[])
        and ${idsBetween(ids, "marks.id")}`;
    statements.push(rows(tx, sql, [...columnsOf(held, "markId", "reason"), ids]));
  }
  if (alarms.length > 0) statements.push(raiseAlarms(tx, alarms));
  if (harmful.length > 0) statements.push(countHarmful(tx, harmful));
  await Promise.all(statements);
}

async function stamp(tx: Statements, changed: readonly string[]): Promise<number | null> {
  if (changed.length === 0) {
    // Processes that wait for an outcome must be woken even so.
    await rows(tx, "select pg_notify('changes', '')");
    return null;
  }
  const sql = "select feed_stamp(?::text[]) as seq";
  const [stamped] = await rows<{ seq: number }>(tx, sql, [changed], "stamp");
  return stamped?.seq ?? null;
}

const isChanged = ({ work: { facts, isUnreadable }, decision }: Decided): boolean =>
  isUnreadable || !isDeepStrictEqual(asServed(facts.state), asServed(decision.state));

/** Postgres gives the names of a state in another order, and none that is undefined. */
const asServed = (state: StationState): unknown =>
  JSON.parse(JSON.stringify({ ...state, last: null }));

/** The station's status runs, if the decision changes them. */
function runsOf({ work, decision }: Decided, now: number, config: Config): StationRuns[] {
  const { stationId, facts, arrivals, refoldFrom } = work;
  const { statusLifetimeMs } = config;
  const earliest = Math.min(...arrivals.marks.map(({ at }) => at));
  const { history } = facts;
  const changed =
    refoldFrom !== null && history !== null
      ? runsOfRefold(
          { saved: facts.state, states: decision.states, from: refoldFrom },
          keptWholeSince(history, now, config),
          now,
          statusLifetimeMs,
        )
      : runsChangedBy(
          { saved: facts.state, states: decision.states, earliest },
          now,
          statusLifetimeMs,
        );
  return changed === null ? [] : [{ stationId, ...changed }];
}

/** Deletes the opinions that the fold of their station has dropped. */
async function dropOpinions(tx: Statements, decided: readonly Decided[]): Promise<void> {
  const gone = decided.flatMap(({ work, decision }) =>
    work.facts.opinions
      .filter((mark) => !decision.opinions.has(mark.reporterId))
      .map((mark) => ({ stationId: work.stationId, reporterId: mark.reporterId })),
  );
  if (gone.length === 0) return;
  await rows(
    tx,
    `delete from opinions o using unnest(?::text[], ?::bigint[]) as g(station_id, reporter_id)
     where o.station_id = g.station_id and o.reporter_id = g.reporter_id`,
    columnsOf(gone, "stationId", "reporterId"),
    "drop_opinions",
  );
}

/**
 * Outcomes (also for webhooks), opinions that changed, and states, in one statement: the stations are locked meanwhile.
 * A change by time that is due and not told yet stays due where the station is not stamped. Fails when one of the marks
 * was processed already (`isLostFence`).
 */
async function write(
  tx: Statements,
  decided: readonly Decided[],
  changed: ReadonlySet<Decided>,
  now: number,
  config: Config,
): Promise<void> {
  const outcomes = decided.flatMap(({ decision }) =>
    [...decision.outcomes].map(([id, outcome]) => ({ id, ...outcome })),
  );
  const fresh = decided.flatMap(({ work, decision }) => {
    const stored = new Set(work.facts.opinions.map((mark) => mark.id));
    return [...decision.opinions.values()]
      .filter((mark) => !stored.has(mark.id))
      .map((mark) => ({ ...mark, stationId: work.stationId, json: JSON.stringify(mark) }));
  });
  const { statusLifetimeMs } = config;
  const states = decided.map((one) => {
    const { stationId } = one.work;
    const { state } = one.decision;
    const next = transitions(state, statusLifetimeMs).find((at) => at > now) ?? null;
    const status = statusAt(state, now, statusLifetimeMs);
    return { stationId, state: JSON.stringify(state), status, next, changed: changed.has(one) };
  });
  const ids = outcomes.map(({ id }) => id);
  const from = firstIdOfDay(now - hotMs);
  const to = idAfter(now);
  const allHot = ids.every((id) => id >= from && id < to);
  await rows(
    tx,
    `with outcome as (
       update marks set processed_at = server_now(), outcome = o.outcome, outcome_status = o.status,
         outcome_reason = o.reason, outcome_have = o.have, needed = o.needed, rule = o.rule
       from (select * from unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::int[], ?::int[], ?::text[])
         as o(id, outcome, status, reason, have, needed, rule)) o
       where marks.id = o.id and marks.id = any(?::bigint[]) and marks.processed_at is null
         and ${allHot ? `marks.id >= ${from} and marks.id < ${to}` : idsBetween(ids, "marks.id")}
       returning marks.id, marks.partner_id, marks.source
     ), told as (${outcomesTold}), opinion as (
       insert into opinions (station_id, reporter_id, mark_id, effective_at, mark)
       select station_id, reporter_id, mark_id, timestamptz 'epoch' + at * interval '1 ms', mark::jsonb
       from unnest(?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[])
         as f(station_id, reporter_id, mark_id, at, mark)
       on conflict (station_id, reporter_id) do update
         set mark_id = excluded.mark_id, effective_at = excluded.effective_at, mark = excluded.mark
     ), state as (
       update station_status st set state = d.state::jsonb, status = d.status, refold = false,
         refold_from = null, updated_at = server_now(),
         next_at = case when not d.changed and st.next_at <= server_now() then st.next_at
           else timestamptz 'epoch' + d.next * interval '1 ms' end
       from unnest(?::text[], ?::text[], ?::text[], ?::bigint[], ?::boolean[]) as d(station_id, state, status, next, changed)
       where st.station_id = d.station_id and st.station_id = any(?::text[])
     )
     select expect_count((select count(*) from outcome), ?)`,
    [
      ...columnsOf(outcomes, "id", "outcome", "status", "reason", "have", "needed", "rule"),
      ids,
      ...columnsOf(fresh, "stationId", "reporterId", "id", "at", "json"),
      ...columnsOf(states, "stationId", "state", "status", "next", "changed"),
      states.map(({ stationId }) => stationId),
      outcomes.length,
    ],
    // A plan over old partitions is not worth keeping.
    allHot ? "save_decided" : undefined,
  );
}
