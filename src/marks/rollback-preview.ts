import type { ConsoleRollback, ConsoleRollbackChange } from "#src/contract/console.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { decide } from "#src/domain/decide.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import { dayMs } from "#src/domain/units.ts";
import { loadFirstSeen, loadHistories, refoldMarks } from "#src/marks/histories.ts";
import { msOf } from "#src/marks/marks.ts";
import {
  refuseWide,
  type Selection,
  selectedStations,
  whereSelected,
} from "#src/marks/rollback.ts";
import type { NotDone } from "#src/operators/act.ts";

/**
 * Works out a rollback without doing it, from one snapshot: each station's fold over its marks without the selected
 * ones, which is what the marks worker comes to after `rollBack`. At most `shown` stations are worked out, those with
 * the most marks. `held`: marks that wait for a review and so count for nothing yet.
 */
export const previewRollback = async (
  db: Db,
  selection: Selection,
  config: Config,
  shown: number,
): Promise<ConsoleRollback | NotDone> =>
  refuseWide(selection) ??
  db.transaction(
    async (tx) => {
      const { sql, bindings } = whereSelected(selection);
      const [sums] = await rows<Omit<ConsoleRollback, "changes" | "stations">>(
        tx,
        `select count(*) as marks, count(*) filter (where review = 'held') as held,
         count(distinct reporter_id) as reporters from marks where ${sql}`,
        bindings,
      );
      const stations = await selectedStations(tx, selection);
      const most = stations
        .toSorted((a, b) => b.marks - a.marks || (a.station_id < b.station_id ? -1 : 1))
        .slice(0, shown);
      const changes = await workOut(tx, selection, most, config);
      return { ...sums!, stations: stations.length, changes };
    },
    { isolationLevel: "repeatable read", readOnly: true },
  );

async function workOut(
  tx: Tx,
  selection: Selection,
  stations: readonly { station_id: string; marks: number }[],
  config: Config,
): Promise<ConsoleRollbackChange[]> {
  const ids = stations.map((station) => station.station_id);
  const savedSql = "select station_id, state from station_status where station_id = any(?::text[])";
  const saved = await rows<{ station_id: string; state: StationState | null }>(tx, savedSql, [ids]);
  const states = new Map(saved.map((row) => [row.station_id, row.state ?? emptyState]));
  const histories = await loadHistories(
    tx,
    ids,
    0,
    "processed and waiting",
    refoldMarks,
    whereSelected(selection),
  );
  const reporters = new Set(
    [...histories.values()].flatMap(({ marks }) => marks.map((mark) => mark.reporterId)),
  );
  const firstSeen = await loadFirstSeen(tx, reporters);
  const [clock] = await rows<{ now: number }>(tx, `select ${msOf("server_now()")} as now`);
  const { now } = clock!;
  const keptFrom = now - config.retentionDays * dayMs;
  return stations.map(({ station_id, marks }) => {
    const state = states.get(station_id) ?? emptyState;
    const history = histories.get(station_id)!;
    const older = state.lastUpdated !== null && state.lastUpdated < keptFrom;
    const start = { ...emptyState, lastUpdated: older ? state.lastUpdated : null };
    const facts = { state: start, opinions: [], history };
    const without = decide(facts, { marks: [], seeds: [] }, firstSeen, now, config).state;
    const shownAt = (folded: StationState): FuelBlock => view(folded, now, config.statusLifetimeMs);
    return { station_id, marks, before: shownAt(state), after: shownAt(without) };
  });
}
