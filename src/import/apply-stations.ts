import type { StationRow } from "#src/feed/feed.ts";
import { compareRows, type Compared } from "#src/import/file-import.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";
import { type HandEdits, overrule, readEdits, saveEdits } from "#src/stations/hand-edits.ts";

const chunkRows = 1000;

type Applied = Compared & { kept: number };

/**
 * Inserts or updates stations, 1,000 a transaction, each ending with its stamp in the change feed. A removed station
 * that comes again is back in service and counts as changed. Fields that an operator has set by hand stay, and a
 * station that was closed by hand stays closed; `kept` counts the values of the file that are not applied for that
 * reason (decisions 14.5). `dryRun` only compares.
 */
export async function applyStations(
  db: Db,
  source: string,
  stations: readonly StationRow[],
  dryRun: boolean,
  progress: (done: number) => void,
): Promise<Applied> {
  const total: Applied = { added: 0, changed: 0, unchanged: 0, kept: 0 };
  let done = 0;
  // Ascending ids everywhere: two writers then wait for each other and never deadlock.
  const ordered = [...stations].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const chunk of slices(ordered, chunkRows)) {
    const counts = await inTransaction(db, (tx) => applyChunk(tx, source, chunk, dryRun));
    for (const name of ["added", "changed", "unchanged", "kept"] as const)
      total[name] += counts[name];
    progress((done += chunk.length));
  }
  return total;
}

/**
 * Takes stations of `source` out of service. Returns the number of those that were in service, and of those that an
 * operator keeps in service by hand (decisions 14.5). `dryRun` only counts.
 */
export async function removeStations(
  db: Db,
  source: string,
  ids: readonly string[],
  dryRun: boolean,
  progress: (done: number) => void,
): Promise<{ removed: number; kept: number }> {
  const total = { removed: 0, kept: 0 };
  let done = 0;
  for (const chunk of slices([...ids].sort(), chunkRows)) {
    const counts = await inTransaction(db, (tx) => removeChunk(tx, source, chunk, dryRun));
    total.removed += counts.removed;
    total.kept += counts.kept;
    progress((done += chunk.length));
  }
  return total;
}

/** Ids of the stations of `source`: those that are in service, and those that an operator has closed by hand. */
export async function idsOfSource(
  db: Db,
  source: string,
): Promise<{ inService: string[]; closed: string[] }> {
  const found = await rows<{ id: string; open: boolean }>(
    db,
    `select s.id, s.removed_at is null as open from stations s left join station_edits e on e.station_id = s.id
     where s.source = ? and (s.removed_at is null or e.in_service = false)`,
    [source],
  );
  const idsOf = (open: boolean): string[] =>
    found.filter((station) => station.open === open).map(({ id }) => id);
  return { inService: idsOf(true), closed: idsOf(false) };
}

async function removeChunk(
  tx: Tx,
  source: string,
  chunk: readonly string[],
  dryRun: boolean,
): Promise<{ removed: number; kept: number }> {
  const stored = await rows<{ id: string; removed: boolean }>(
    tx,
    `select id, removed_at is not null as removed from stations
      where id = any(?::text[]) and source = ? order by id ${dryRun ? "" : "for no key update"}`,
    [chunk, source],
  );
  const edited = await readEdits(tx, chunk);
  const isKept = ({ id }: { id: string }): boolean => edited.get(id)?.in_service === true;
  const gone = stored.filter((one) => !one.removed && !isKept(one)).map(({ id }) => id);
  const counts = { removed: gone.length, kept: stored.filter(isKept).length };
  if (dryRun) return counts;
  for (const { id } of stored) {
    const edits = edited.get(id);
    if (edits !== undefined && edits.in_service !== null && !edits.file_removed)
      await saveEdits(tx, { ...edits, file_removed: true });
  }
  if (gone.length === 0) return counts;
  await rows(
    tx,
    "update stations set removed_at = server_now(), updated_at = server_now() where id = any(?::text[])",
    [gone],
  );
  await rows(tx, "select feed_stamp(?::text[], true)", [gone]);
  return counts;
}

interface Stored extends StationRow {
  source: string;
  removed: boolean;
}

async function applyChunk(
  tx: Tx,
  source: string,
  chunk: readonly StationRow[],
  dryRun: boolean,
): Promise<Applied> {
  const ids = chunk.map(({ id }) => id);
  const stored = await rows<Stored>(
    tx,
    `select id, source, removed_at is not null as removed, lat, lon, brand, name, addr,
        grades_sold, opening_hours
      from stations where id = any(?::text[]) order by id ${dryRun ? "" : "for no key update"}`,
    [ids],
  );
  // A later statement than the lock: in the same one it would not see the operator's edit that it waited for.
  const edited = await readEdits(tx, ids);
  const rowsOfFile = chunk.map((station) => {
    const { id, lat, lon, brand, name, addr, grades_sold, opening_hours } = station;
    return { id, lat, lon, brand, name, addr, grades_sold, opening_hours };
  });
  const { served, newEdits, kept } = withEdits(rowsOfFile, stored, edited);
  const parts = await rows<{ station_id: string }>(
    tx,
    "select station_id from station_pairs where station_id = any(?::text[]) and verdict = 'joined'",
    [ids],
  );
  const closed = new Set(
    [...parts, ...[...edited.values()].filter((one) => one.in_service === false)].map(
      (one) => one.station_id,
    ),
  );
  // A station out of service has no source, so that it counts as changed; one that was closed by hand stays so.
  const before = stored.map(({ removed, ...row }) => {
    return { ...row, source: removed && !closed.has(row.id) ? null : row.source };
  });
  const { touched, ...counts } = compareRows(source, served, before);
  if (dryRun) return { ...counts, kept };
  for (const edits of newEdits) await saveEdits(tx, edits);
  const [out, open] = [true, false].map((out) =>
    touched.filter(({ id }) => closed.has(id) === out),
  );
  await writeStations(tx, source, open!, false);
  await writeStations(tx, source, out!, true);
  return { ...counts, kept };
}

/** The file's stations as they should be served, and the edits for which the file has new values. */
function withEdits(
  found: readonly StationRow[],
  stored: readonly Stored[],
  edited: ReadonlyMap<string, HandEdits>,
): { served: readonly StationRow[]; newEdits: HandEdits[]; kept: number } {
  const newEdits: HandEdits[] = [];
  if (edited.size === 0) return { served: found, newEdits, kept: 0 };
  const before = new Map(stored.map((row) => [row.id, row]));
  let kept = 0;
  const served = found.map((row) => {
    const edits = edited.get(row.id);
    if (edits === undefined) return row;
    const ruled = overrule(row, before.get(row.id)!, edits);
    kept += ruled.left;
    if (JSON.stringify(ruled.edits) !== JSON.stringify(edits)) newEdits.push(ruled.edits);
    return ruled.station;
  });
  return { served, newEdits, kept };
}

/** Inserts or updates stations; `closed` ones, and parts of others, stay out of service. */
async function writeStations(
  tx: Tx,
  source: string,
  touched: readonly StationRow[],
  closed: boolean,
): Promise<void> {
  if (touched.length === 0) return;
  const written = { source, updated_at: tx.raw("server_now()") };
  const opened = closed ? {} : { removed_at: null };
  await tx("stations")
    .insert(touched.map((station) => ({ ...station, ...written, ...opened })))
    .onConflict("id")
    // Setting the id, even to its own value, would lock out workers whose rows refer to the station, and deadlock.
    .merge([
      ...(["source", "lat", "lon", "brand", "name", "addr"] as const),
      ...(["grades_sold", "opening_hours", "updated_at"] as const),
      ...(closed ? [] : (["removed_at"] as const)),
    ]);
  await rows(tx, "select feed_stamp(?::text[], ?::boolean)", [touched.map(({ id }) => id), closed]);
}
