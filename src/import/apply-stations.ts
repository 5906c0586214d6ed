import type { StationRow } from "#src/feed/feed.ts";
import { compareRows, type Compared } from "#src/import/file-import.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";

const chunkRows = 1000;

/**
 * Inserts or updates stations, 1,000 a transaction, each ending with its stamp in the change feed. A removed station
 * that comes again is back in service and counts as changed. `dryRun` only compares.
 */
export async function applyStations(
  db: Db,
  source: string,
  stations: readonly StationRow[],
  dryRun: boolean,
  progress: (done: number) => void,
): Promise<Compared> {
  const total: Compared = { added: 0, changed: 0, unchanged: 0 };
  let done = 0;
  // Ascending ids everywhere: two writers then wait for each other and never deadlock.
  const ordered = [...stations].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const chunk of slices(ordered, chunkRows)) {
    const counts = await inTransaction(db, (tx) => applyChunk(tx, source, chunk, dryRun));
    for (const name of ["added", "changed", "unchanged"] as const) total[name] += counts[name];
    progress((done += chunk.length));
  }
  return total;
}

/** Takes stations of `source` out of service. Returns the number of those that were in service. */
export async function removeStations(
  db: Db,
  source: string,
  ids: readonly string[],
  progress: (done: number) => void,
): Promise<number> {
  let [removed, done] = [0, 0];
  for (const chunk of slices([...ids].sort(), chunkRows)) {
    removed += await inTransaction(db, async (tx) => {
      const gone = await rows<{ id: string }>(
        tx,
        `update stations set removed_at = server_now(), updated_at = server_now()
          where id in (select id from stations where id = any(?::text[]) order by id for no key update)
            and source = ? and removed_at is null returning id`,
        [chunk, source],
      );
      await tx.raw("select feed_stamp(?::text[], true)", [gone.map(({ id }) => id)]);
      return gone.length;
    });
    progress((done += chunk.length));
  }
  return removed;
}

/** Ids of the stations of `source` that are in service. */
export async function idsInService(db: Db, source: string): Promise<string[]> {
  const sql = "select id from stations where source = ? and removed_at is null";
  return (await rows<{ id: string }>(db, sql, [source])).map(({ id }) => id);
}

async function applyChunk(
  tx: Tx,
  source: string,
  chunk: readonly StationRow[],
  dryRun: boolean,
): Promise<Compared> {
  // One that is out of service has no source, so that it counts as changed.
  const stored = await rows<StationRow & { source: string | null }>(
    tx,
    `select id, case when removed_at is null then source end as source, lat, lon, brand, name, addr
      from stations where id = any(?::text[]) order by id ${dryRun ? "" : "for no key update"}`,
    [chunk.map(({ id }) => id)],
  );
  const rowsOfFile = chunk.map(({ id, lat, lon, brand, name, addr }) => {
    return { id, lat, lon, brand, name, addr };
  });
  const { touched, ...counts } = compareRows(source, rowsOfFile, stored);
  if (touched.length === 0 || dryRun) return counts;
  const written = { source, removed_at: null, updated_at: tx.raw("server_now()") };
  await tx("stations")
    .insert(touched.map((station) => ({ ...station, ...written })))
    .onConflict("id")
    // Not the id: to set it, even to what it is, would lock out workers whose rows refer to the station, and deadlock.
    .merge(["source", "lat", "lon", "brand", "name", "addr", "removed_at", "updated_at"]);
  await rows(tx, "select feed_stamp(?::text[])", [touched.map(({ id }) => id)]);
  return counts;
}
