import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import type { Grade, Status } from "#src/domain/vocabulary.ts";
import { fromMs, msOf, seedColumns, type SeedRow } from "#src/marks/marks.ts";
import { askRefold, lockStations } from "#src/infrastructure/locks.ts";

const chunkRows = 1000;

/** An imported status of one of our stations. `updated` in ms. */
export interface NewSeed {
  stationId: string;
  status: Status;
  fuelsNow: Grade[];
  fuelsNo: Grade[];
  updated: number;
  /** Lines of the file that it stands for. */
  lines: number;
}

export interface SeedsApplied {
  /** Stations without an imported status before. */
  added: number;
  changed: number;
  unchanged: number;
  /** Stations whose imported status is newer already. */
  older: NewSeed[];
  /** Stations of the added and changed that show a status of people's marks, which stays before this one. */
  behindMarks: number;
}

/**
 * Writes imported statuses down as events of the fold, 1,000 a transaction, and has their stations folded anew.
 * What is known already is not written again. `dryRun` only compares; `done` is called after each commit.
 */
export async function applySeeds(
  db: Db,
  source: string,
  seeds: readonly NewSeed[],
  config: Config,
  dryRun: boolean,
  done: (touched: string[], count: number) => void,
): Promise<SeedsApplied> {
  const total: SeedsApplied = { added: 0, changed: 0, unchanged: 0, older: [], behindMarks: 0 };
  const ordered = [...seeds].sort((a, b) => (a.stationId < b.stationId ? -1 : 1));
  for (let from = 0; from < ordered.length; from += chunkRows) {
    const chunk = ordered.slice(from, from + chunkRows);
    const touched = await inTransaction(db, (tx) =>
      applyChunk(tx, source, chunk, config, dryRun, total),
    );
    done(touched, from + chunk.length);
  }
  return total;
}

async function applyChunk(
  tx: Tx,
  source: string,
  chunk: readonly NewSeed[],
  config: Config,
  dryRun: boolean,
  total: SeedsApplied,
): Promise<string[]> {
  const ids = chunk.map((seed) => seed.stationId);
  if (!dryRun) await lockStations(tx, ids, "wait");
  const known = await rows<SeedRow & { source: string }>(
    tx,
    `select distinct on (station_id) ${seedColumns}, source from seeds
     where station_id = any(?::text[]) order by station_id, imported_at desc`,
    [ids],
  );
  const before = new Map(known.map((row) => [row.station_id, row]));
  const fresh: NewSeed[] = [];
  for (const seed of chunk) {
    const was = before.get(seed.stationId);
    if (was !== undefined && isSame(seed, was)) total.unchanged += 1;
    else if (was !== undefined && was.updated > seed.updated) total.older.push(seed);
    else {
      fresh.push(seed);
      total[was === undefined ? "added" : "changed"] += 1;
    }
  }
  const touched = fresh.map((seed) => seed.stationId);
  total.behindMarks += await countServed(tx, touched, config);
  if (!dryRun) await write(tx, source, fresh);
  return touched;
}

const isSame = (seed: NewSeed, was: SeedRow): boolean =>
  was.updated === seed.updated &&
  was.status === seed.status &&
  was.fuels_now.join() === seed.fuelsNow.join() &&
  was.fuels_no.join() === seed.fuelsNo.join();

async function countServed(tx: Tx, ids: readonly string[], config: Config): Promise<number> {
  const states = await rows<{ state: StationState | null; now: number }>(
    tx,
    `select state, ${msOf("server_now()")} as now from station_status where station_id = any(?::text[])`,
    [ids],
  );
  return states.filter(({ state, now }) => {
    const { status, seeded } = view(state ?? emptyState, now, config.statusLifetimeMs);
    return status !== "nodata" && !seeded;
  }).length;
}

async function write(tx: Tx, source: string, seeds: readonly NewSeed[]): Promise<void> {
  if (seeds.length === 0) return;
  await tx.raw(
    `insert into seeds (station_id, imported_at, updated, status, fuels_now, fuels_no, source)
     select id, (select server_now()), ${fromMs.replace("?", "updated")}, status,
       string_to_array(fuels_now, ','), string_to_array(fuels_no, ','), ?
     from unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[])
       as s(id, updated, status, fuels_now, fuels_no)
     on conflict (station_id, imported_at) do nothing`,
    [
      source,
      seeds.map((seed) => seed.stationId),
      seeds.map((seed) => seed.updated),
      seeds.map((seed) => seed.status),
      seeds.map((seed) => seed.fuelsNow.join(",")),
      seeds.map((seed) => seed.fuelsNo.join(",")),
    ] as never,
  );
  await askRefold(
    tx,
    seeds.map((seed) => seed.stationId),
  );
}
