import { readStored } from "#src/feed/feed.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import type { StationState } from "#src/domain/state.ts";
import { view } from "#src/domain/view.ts";
import type { Compared } from "#src/import/file-import.ts";
import type { SourceStatus } from "#src/import/read-statuses.ts";
import { fromMs, msOf, seedColumns, type SeedRow } from "#src/marks/marks.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { askRefold, type ChangedEvent, lockStations } from "#src/infrastructure/locks.ts";

const chunkRows = 1000;

/** An imported status of one of our stations. */
export type ImportedStatus = Omit<SourceStatus, "point"> & { stationId: string };

/** `added`: stations without an imported status before. */
interface AppliedStatuses extends Compared {
  /** Stations whose imported status is newer already. */
  older: ImportedStatus[];
  /** Number of added and changed stations that show a status of people's marks, which takes precedence. */
  behindMarks: number;
}

/**
 * Writes imported statuses as events of the fold, 1,000 a transaction, and requests a refold of their stations.
 * Statuses that are stored already are not written again. `dryRun` only compares; `done` is called after each commit.
 */
export async function applyImportedStatuses(
  db: Db,
  source: string,
  statuses: readonly ImportedStatus[],
  config: Config,
  dryRun: boolean,
  done: (touched: string[], count: number) => void,
): Promise<AppliedStatuses> {
  const total: AppliedStatuses = { added: 0, changed: 0, unchanged: 0, older: [], behindMarks: 0 };
  const ordered = [...statuses].sort((a, b) => (a.stationId < b.stationId ? -1 : 1));
  let count = 0;
  for (const chunk of slices(ordered, chunkRows)) {
    const touched = await inTransaction(db, (tx) =>
      applyChunk(tx, source, chunk, config, dryRun, total),
    );
    done(touched, (count += chunk.length));
  }
  return total;
}

async function applyChunk(
  tx: Tx,
  source: string,
  chunk: readonly ImportedStatus[],
  config: Config,
  dryRun: boolean,
  total: AppliedStatuses,
): Promise<string[]> {
  const ids = chunk.map(({ stationId }) => stationId);
  if (!dryRun) await lockStations(tx, ids, "wait");
  const sql = `select distinct on (station_id) ${seedColumns}, source from seeds
     where station_id = any(?::text[]) order by station_id, imported_at desc`;
  const stored = await rows<SeedRow & { source: string }>(tx, sql, [ids]);
  const before = new Map(stored.map((row) => [row.station_id, row]));
  const fresh: ImportedStatus[] = [];
  for (const status of chunk) {
    const was = before.get(status.stationId);
    if (was !== undefined && isSame(status, was)) total.unchanged += 1;
    else if (was !== undefined && was.updated > status.updated) total.older.push(status);
    else {
      fresh.push(status);
      total[was === undefined ? "added" : "changed"] += 1;
    }
  }
  const touched = fresh.map(({ stationId }) => stationId);
  total.behindMarks += await countBehindMarks(tx, touched, config);
  if (!dryRun) await write(tx, source, fresh);
  return touched;
}

const isSame = (now: ImportedStatus, was: SeedRow): boolean =>
  was.updated === now.updated &&
  was.status === now.status &&
  was.fuelsNow.join() === now.fuelsNow.join() &&
  was.fuelsNo.join() === now.fuelsNo.join();

async function countBehindMarks(tx: Tx, ids: readonly string[], config: Config): Promise<number> {
  const sql = `select state, ${msOf("server_now()")} as now from station_status where station_id = any(?::text[])`;
  const states = await rows<{ state: StationState | null; now: number }>(tx, sql, [ids]);
  return states.filter(({ state, now }) => {
    const { status, seeded } = view(readStored(state).state, now, config.statusLifetimeMs);
    return status !== "nodata" && !seeded;
  }).length;
}

async function write(tx: Tx, source: string, statuses: readonly ImportedStatus[]): Promise<void> {
  if (statuses.length === 0) return;
  const stationIds = statuses.map(({ stationId }) => stationId);
  const imported = await rows<ChangedEvent>(
    tx,
    `insert into seeds (station_id, imported_at, updated, status, fuels_now, fuels_no, source)
     select id, (select server_now()), ${fromMs.replace("?", "updated")}, status,
       string_to_array(fuels_now, ','), string_to_array(fuels_no, ','), ?
     from unnest(?::text[], ?::bigint[], ?::text[], ?::text[], ?::text[])
       as s(id, updated, status, fuels_now, fuels_no)
     on conflict (station_id, imported_at) do nothing returning station_id, ${msOf("imported_at")} as at`,
    [
      source,
      stationIds,
      statuses.map(({ updated }) => updated),
      statuses.map(({ status }) => status),
      statuses.map(({ fuelsNow }) => fuelsNow.join()),
      statuses.map(({ fuelsNo }) => fuelsNo.join()),
    ],
  );
  await askRefold(tx, imported);
}
