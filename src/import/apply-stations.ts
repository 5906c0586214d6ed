import type { StationRow } from "#src/feed/feed.ts";
import { inTransaction, rows, type Db, type Tx } from "#src/infrastructure/db.ts";

const chunkRows = 1000;

export interface Applied {
  added: number;
  changed: number;
  unchanged: number;
}

interface Stored extends StationRow {
  source: string;
  gone: boolean;
}

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
): Promise<Applied> {
  const total: Applied = { added: 0, changed: 0, unchanged: 0 };
  // Ascending ids everywhere: two writers then wait for each other and never deadlock.
  const ordered = [...stations].sort((a, b) => (a.id < b.id ? -1 : 1));
  for (let from = 0; from < ordered.length; from += chunkRows) {
    const chunk = ordered.slice(from, from + chunkRows);
    const done = await inTransaction(db, (tx) => applyChunk(tx, source, chunk, dryRun));
    total.added += done.added;
    total.changed += done.changed;
    total.unchanged += done.unchanged;
    progress(from + chunk.length);
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
  const ordered = [...ids].sort();
  let removed = 0;
  for (let from = 0; from < ordered.length; from += chunkRows) {
    const chunk = ordered.slice(from, from + chunkRows);
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
    progress(from + chunk.length);
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
): Promise<Applied> {
  const stored = await rows<Stored>(
    tx,
    `select id, source, lat, lon, brand, name, addr, removed_at is not null as gone
      from stations where id = any(?::text[]) order by id ${dryRun ? "" : "for no key update"}`,
    [chunk.map(({ id }) => id)],
  );
  const before = new Map(stored.map((one) => [one.id, one]));
  const touched = chunk.filter((one) => differs(source, one, before.get(one.id)));
  const added = touched.filter(({ id }) => !before.has(id)).length;
  if (touched.length > 0 && !dryRun) await write(tx, source, touched);
  return { added, changed: touched.length - added, unchanged: chunk.length - touched.length };
}

const differs = (source: string, now: StationRow, was: Stored | undefined): boolean =>
  was === undefined ||
  was.gone ||
  was.source !== source ||
  (["lat", "lon", "brand", "name", "addr"] as const).some((field) => was[field] !== now[field]);

async function write(tx: Tx, source: string, stations: readonly StationRow[]): Promise<void> {
  const column = (name: keyof StationRow): unknown[] => stations.map((one) => one[name]);
  await rows(
    tx,
    `insert into stations (id, source, lat, lon, brand, name, addr)
      select id, ?, lat, lon, brand, name, addr
      from unnest(?::text[], ?::float8[], ?::float8[], ?::text[], ?::text[], ?::text[])
        as imported (id, lat, lon, brand, name, addr) order by id
      on conflict (id) do update set source = excluded.source, lat = excluded.lat, lon = excluded.lon,
        brand = excluded.brand, name = excluded.name, addr = excluded.addr,
        removed_at = null, updated_at = server_now()`,
    [source, ...(["id", "lat", "lon", "brand", "name", "addr"] as const).map(column)],
  );
  await rows(tx, "select feed_stamp(?::text[])", [column("id")]);
}
