import { readStored } from "#src/feed/feed.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { containing } from "#src/operators/operator-log.ts";
import { rows, type Db, type Statements } from "#src/infrastructure/db.ts";
import { cutToPage } from "#src/infrastructure/lists.ts";
import type { ConsoleMark, ConsoleStation, ConsoleStationPage } from "#src/contract/console.ts";
import { explain } from "#src/domain/explain.ts";
import { distanceM } from "#src/domain/geo.ts";
import type { StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { loadFirstSeen, loadHistories } from "#src/marks/histories.ts";
import { msOf } from "#src/marks/marks.ts";
import { joinsOf } from "#src/stations/join-stations.ts";
import { stationIdIn, stationsByOwnId } from "#src/stations/own-ids.ts";
import { handSetOf, noEdits, readEdits } from "#src/stations/hand-edits.ts";

const stepsShown = 200;
const marksShown = 50;

/**
 * At most `limit` stations that have the id `q`, here or at their source, or every word of it in their id, name, brand
 * or address; those in service first.
 */
export async function searchStations(db: Db, q: string, limit: number): Promise<ConsoleStation[]> {
  const words = q.split(/\s+/).filter((word) => word !== "");
  const each = words.map(
    () => "(s.id || ' ' || s.name || ' ' || s.brand || ' ' || s.addr) ilike ?",
  );
  const own = (await stationsByOwnId(db, [q])).get(q) ?? [];
  const ids = [q, stationIdIn(q), ...own.map(({ id }) => id)];
  return rows<ConsoleStation>(
    db,
    `select s.id, s.name, s.brand, s.addr, s.lat, s.lon, coalesce(t.status, 'nodata') as status,
       s.removed_at is not null as removed
     from stations s left join station_status t on t.station_id = s.id
     where ${["true", ...each].join(" and ")} or s.id = any(?::text[])
     order by s.id <> all(?::text[]), removed, t.updated_at desc nulls last, s.id limit ?`,
    [...words.map(containing), ids, ids, limit],
  );
}

/** These stations, also those out of service, in this order; ids that no station has are left out. */
export const stationNames = (
  db: Db,
  ids: readonly string[],
): Promise<Pick<ConsoleStation, "id" | "name" | "brand" | "addr" | "removed">[]> =>
  rows(
    db,
    `select s.id, s.name, s.brand, s.addr, s.removed_at is not null as removed
     from unnest(?::text[]) with ordinality as asked(id, place) join stations s on s.id = asked.id order by place`,
    [ids],
  );

/**
 * A station with its content at `now`, the steps that led there, and its marks, newest first, older than the mark
 * `before`. Null for an unknown station.
 */
export const stationPage = (
  db: Db,
  id: string,
  before: number | null,
  config: Config,
): Promise<ConsoleStationPage | null> =>
  // One snapshot, so that marks, steps and state are of the same moment.
  db.transaction(
    async (tx) => {
      const [station] = await rows<
        ConsoleStationPage["station"] & { state: StationState | null; now: number }
      >(
        tx,
        `select s.id, s.name, s.brand, s.addr, s.lat, s.lon, s.source,
           s.grades_sold, s.opening_hours, s.closed, coalesce(t.status, 'nodata') as status,
           s.removed_at is not null as removed, t.state, ${msOf("server_now()")} as now
         from stations s left join station_status t on t.station_id = s.id where s.id = ?`,
        [id],
      );
      if (station === undefined) return null;
      const { state, now, ...shown } = station;
      const folded = readStored(state).state;
      const history = (await loadHistories(tx, [id], 0, "processed")).get(id)!;
      const firstSeen = await loadFirstSeen(tx, history.marks);
      const first = Math.min(
        ...history.marks.map((mark) => mark.at),
        ...history.seeds.map((seed) => seed.importedAt),
      );
      const older = folded.lastUpdated !== null && folded.lastUpdated < first;
      const age = older ? folded.lastUpdated : null;
      const { steps } = explain(history, age, firstSeen, now, config, stepsShown);
      const events = history.marks.length + history.seeds.length;
      const { page: marks, next } = cutToPage(await marksOf(tx, shown, before), marksShown);
      const edited = await readEdits(tx, [id]);
      return {
        station: shown,
        joins: await joinsOf(tx, id),
        by_hand: handSetOf(edited.get(id) ?? noEdits(id)),
        fuel: view(folded, now, config.statusLifetimeMs),
        steps: steps.slice(-stepsShown),
        steps_before: Math.max(0, events - stepsShown, steps.length - stepsShown),
        history_cut: history.cutAt !== null,
        marks,
        next,
      };
    },
    { isolationLevel: "repeatable read", readOnly: true },
  );

async function marksOf(
  db: Statements,
  station: { id: string; lat: number; lon: number },
  before: number | null,
): Promise<ConsoleMark[]> {
  const found = await rows<Omit<ConsoleMark, "distance_m">>(
    db,
    `select id, status, ${msOf("received_at")} as received, ${msOf("effective_at")} as effective, reporter_id, source,
       partner_id, key_id, remote, needed, rule, express, review,
       case when processed_at is not null then outcome end as outcome, outcome_have as have, failure, lat, lon, comment
     from marks where station_id = ? and id < coalesce(?::bigint, 9223372036854775807)
     order by id desc limit ?`,
    [station.id, before, marksShown + 1],
  );
  return found.map(({ lat, lon, ...mark }) => ({
    ...{ ...mark, lat, lon },
    distance_m: lat === null || lon === null ? null : Math.round(distanceM({ lat, lon }, station)),
  }));
}
