import type { Refusal } from "#src/contract/refusals.ts";
import { decide } from "#src/domain/decide.ts";
import { emptyState } from "#src/domain/state.ts";
import { runsOfRefold } from "#src/domain/view.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { lockStations } from "#src/infrastructure/locks.ts";
import { loadFirstSeen, loadHistories } from "#src/marks/histories.ts";
import { msOf } from "#src/marks/marks.ts";
import {
  keptWholeSince,
  noteAllRewritten,
  type StationRuns,
  writeRuns,
} from "#src/marks/stored-runs.ts";
import { act, unknown } from "#src/operators/act.ts";

const stationsAtOnce = 50;
const triesMax = 10;

export interface Rebuilt {
  stations: number;
  /** Stations that got marks at each try; their runs are unchanged. */
  busy: string[];
}

/**
 * Computes the status runs (decisions 2.36) anew from all kept marks and imports, of one station or of all. It writes
 * only differences, so it may run again, and beside running workers: a station is locked only to write, and one that
 * has changed since its marks were read is read again.
 */
export async function rebuildRuns(
  db: Db,
  actor: string,
  config: Config,
  only: string | undefined,
  progress: (done: number, total: number) => void,
): Promise<Rebuilt | Refusal> {
  const all = await rows<{ id: string }>(
    db,
    "select station_id as id from station_status where station_id = coalesce(?, station_id) order by 1",
    [only ?? null],
  );
  if (only !== undefined && all.length === 0) {
    const known = await rows(db, "select id from stations where id = ?", [only]);
    if (known.length === 0) return unknown("station", only);
  }
  const busy: string[] = [];
  let done = 0;
  for (const slice of slices(all, stationsAtOnce)) {
    let left = slice.map(({ id }) => id);
    for (let tries = 0; tries < triesMax && left.length > 0; tries += 1)
      left = await rebuildSome(db, left, config);
    busy.push(...left);
    progress((done += slice.length), all.length);
  }
  const value = { stations: all.length - busy.length, busy };
  const details = { stations: value.stations, busy: busy.length };
  const subject = only === undefined ? "all stations" : `station ${only}`;
  return act(db, actor, async () => ({ value, action: "runs.rebuild", subject, details }));
}

/** Gives the stations that changed meanwhile. */
async function rebuildSome(
  db: Db,
  stationIds: readonly string[],
  config: Config,
): Promise<string[]> {
  // Read before the marks, so that a change of them in between shows.
  const versions = await readVersions(db, stationIds);
  const histories = await loadHistories(db, stationIds, 0, "processed");
  const reporters = [...histories.values()].flatMap(({ marks }) => marks);
  const seen = await loadFirstSeen(db, reporters);
  const rebuilt = [...versions].map(([stationId, { now }]): StationRuns => {
    const history = histories.get(stationId)!;
    const facts = { state: emptyState, opinions: [], history };
    const { states } = decide(facts, { marks: [], seeds: [] }, seen, now, config);
    const since = keptWholeSince(history, now, config);
    const whole = { saved: emptyState, states, from: 0 };
    const runs = runsOfRefold(whole, since, now, config.statusLifetimeMs);
    // Noted as a whole below: finding the differences would cost more than making the days anew.
    return { stationId, ...runs, changesFrom: Infinity };
  });
  return inTransaction(db, async (tx) => {
    await lockStations(tx, stationIds, "wait");
    const present = await readVersions(tx, stationIds);
    const isSame = (id: string): boolean => present.get(id)?.version === versions.get(id)?.version;
    await noteAllRewritten(tx);
    await writeRuns(
      tx,
      rebuilt.filter(({ stationId }) => isSame(stationId)),
      0,
    );
    return stationIds.filter((id) => !isSame(id));
  });
}

/** A version that changes with each fold of a station, and the database's time, ms. */
async function readVersions(
  db: Pick<Db, "raw">,
  stationIds: readonly string[],
): Promise<Map<string, { version: string; now: number }>> {
  const found = await rows<{ id: string; version: string; now: number }>(
    db,
    `select station_id as id, updated_at::text as version, ${msOf("server_now()")} as now
     from station_status where station_id = any(?::text[])`,
    [stationIds],
  );
  return new Map(found.map(({ id, ...row }) => [id, row]));
}
