import type { Point } from "#src/domain/geo.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { compareRows, type Compared } from "#src/import/file-import.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { inTransaction, rows, type Db, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { type HandEdits, overrule, readEdits, saveEdits } from "#src/stations/hand-edits.ts";
import { keepShown, type Own, readOwn, saveOwn } from "#src/stations/shown-fields.ts";

/** Columns of a station that its source fills, positions first. */
const facts = "lat, lon, brand, name, addr, grades_sold, opening_hours, closed";
const factNames = facts.split(", ") as (keyof StationRow)[];
const [chunkRows, comparedRows] = [1000, 2000];
/**
 * Changes that are saved in one transaction: the whole import or nothing. Its stamps, at its end, hold up all others
 * that change the map, 10,000 of them for 0.3 to 0.4 s (decisions 14.17).
 */
const atOnce = 10_000;

type Applied = Compared & { kept: number };
type Progress = (done: number) => void;

/**
 * Inserts, updates or (`gone`) takes out of service stations of `source`: up to 10,000 changes in one transaction, more
 * of them 1,000 a transaction, each ending with its stamp in the change feed. A removed station that comes again is back
 * in service and counts as changed. Fields that an operator has set by hand stay, and a station that was closed by hand
 * stays closed; `kept` counts the values of the file that are not applied for that reason (decisions 14.5). What is
 * stored as the file has it is neither locked nor written. `dryRun` only compares. For `gone` ones `removed` counts those
 * that were in service, and `kept` those that an operator keeps in service by hand.
 */
export async function saveStations(
  db: Db,
  source: string,
  { stations = [], gone = [] }: { stations?: readonly StationRow[]; gone?: readonly string[] },
  dryRun: boolean,
  progress: Progress,
): Promise<Applied & { removed: number }> {
  // Ascending ids everywhere: two writers then wait for each other and never deadlock.
  const ordered = [...stations].sort((a, b) => (a.id < b.id ? -1 : 1));
  const leaving = [...gone].sort();
  const { total, changing } = await compareAll(db, source, ordered, dryRun, progress);
  let done = total.unchanged;
  const note = (counts: Partial<typeof total>, rowCount: number): void => {
    for (const name of Object.keys(counts) as (keyof typeof total)[]) total[name] += counts[name]!;
    progress((done += rowCount));
  };
  const steps = [
    ...[...slices(changing, chunkRows)].map((chunk) => async (tx: Tx, stamps: Stamps) => {
      note(await applyChunk(tx, source, chunk, stamps), chunk.length);
    }),
    ...[...slices(leaving, chunkRows)].map((chunk) => async (tx: Tx, stamps: Stamps) => {
      note(await removeChunk(tx, source, chunk, dryRun, stamps), chunk.length);
    }),
  ];
  const isWhole = changing.length + leaving.length <= atOnce;
  const turns = isWhole ? [steps] : steps.map((step) => [step]);
  const queue = turns.filter((some) => some.length > 0).values();
  const saveNext = async (): Promise<void> => {
    for (const turn of queue)
      await inTransaction(db, async (tx) => {
        if (isWhole && !dryRun)
          await lockStations(tx, [...changing.map(({ id }) => id), ...leaving]);
        const stamps: Stamps = { served: [], gone: [] };
        for (const step of turn) await step(tx, stamps);
        await rows(tx, "select feed_stamp(?::text[], false)", [stamps.served]);
        await rows(tx, "select feed_stamp(?::text[], true)", [stamps.gone]);
      });
  };
  // Two transactions: one writes its rows while the other one stamps and commits. Their stations are others.
  const saved = await Promise.allSettled(
    [saveNext(), saveNext()].map((saving) =>
      saving.catch((error: unknown) => {
        for (const _ of queue);
        throw error;
      }),
    ),
  );
  const failed = saved.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return total;
}

/** Stations to stamp at the end of a transaction, because a stamp makes all others wait for its end. */
interface Stamps {
  served: string[];
  gone: string[];
}

const lockStations = (tx: Tx, ids: readonly string[]) =>
  rows(tx, "select from stations where id = any(?::text[]) order by id for no key update", [ids]);

/** Counts what is as the file has it, and finds the rest; in a dry run counts all. */
async function compareAll(
  db: Db,
  source: string,
  ordered: readonly StationRow[],
  dryRun: boolean,
  progress: Progress,
): Promise<{ total: Applied & { removed: number }; changing: StationRow[] }> {
  const total = { added: 0, changed: 0, unchanged: 0, kept: 0, removed: 0 };
  const changing: StationRow[] = [];
  // Asked for before it is needed: Postgres compares the next ones while these are looked at.
  const asked = ahead(slices(ordered, comparedRows), (some) => unlike(db, source, some));
  for await (const [all, ids] of asked) {
    total.unchanged += all.length - ids.size;
    progress(total.added + total.changed + total.unchanged);
    const chunk = all.filter(({ id }) => ids.has(id));
    if (chunk.length === 0) continue;
    const { counts, touched, newEdits, newOwn, kept } = await compareChunk(db, source, chunk);
    const writes = new Set([
      ...touched.map(({ id }) => id),
      ...newEdits.map((one) => one.station_id),
      ...newOwn.keys(),
    ]);
    const same = dryRun ? chunk : chunk.filter(({ id }) => !writes.has(id));
    for (const { id } of same) total.kept += kept.get(id) ?? 0;
    total.unchanged += dryRun ? counts.unchanged : same.length;
    if (dryRun) {
      total.added += counts.added;
      total.changed += counts.changed;
    } else changing.push(...chunk.filter(({ id }) => writes.has(id)));
    progress(total.added + total.changed + total.unchanged);
  }
  return { total, changing };
}

/** Each item with its answer; the next one is asked before an answer is awaited. */
async function* ahead<T, Answer>(
  items: Iterable<T>,
  ask: (item: T) => Promise<Answer>,
): AsyncGenerator<[T, Answer]> {
  let before: [T, Promise<Answer>] | undefined;
  for (const item of items) {
    const answer = ask(item);
    // It is thrown where it is awaited, which another fault may prevent.
    answer.catch(() => undefined);
    if (before !== undefined) yield [before[0], await before[1]];
    before = [item, answer];
  }
  if (before !== undefined) yield [before[0], await before[1]];
}

const between = "\u001e";

/**
 * Ids of the stations that are not stored as they are in the file, or of which something is by hand or a part's: those
 * are to be looked at. Two texts for all: nothing is parsed of what is as it should be, and clean texts have no
 * separators of ours.
 */
async function unlike(db: Db, source: string, some: readonly StationRow[]): Promise<Set<string>> {
  // Written out: by names in a list, or as a list, it takes two to four times as long.
  const says = some.map(
    ({ lat, lon, brand, name, addr, grades_sold, opening_hours, closed = "" }) =>
      `${lat}\u001f${lon}\u001f${brand}\u001f${name}\u001f${addr}\u001f${grades_sold}\u001f${opening_hours}\u001f${closed}`,
  );
  const found = await rows<{ id: string }>(
    db,
    `select r.id from unnest(string_to_array(?, e'\\x1e'), string_to_array(?, e'\\x1e')) as r (id, says)
       -- The limit makes it look for each id in the index; else it would read all stations for each of these statements.
       left join lateral (
         select concat_ws(e'\\x1f', ${facts}) as stored
         from stations where id = r.id and source = ? and removed_at is null limit 1) s on true
     where stored is distinct from says
       or exists (select from station_edits where station_id = r.id)
       or exists (select from station_own where station_id = r.id)`,
    [some.map(({ id }) => id).join(between), says.join(between), source],
  );
  return new Set(found.map(({ id }) => id));
}

/** Where files have the stations of a source that are no parts of others. */
export interface KnownPlaces {
  /** By the station's id: the number of its place. */
  numbers: Map<string, number>;
  /** Latitude and longitude of each. */
  points: Float64Array;
}

export function placeOf({ numbers, points }: KnownPlaces, id: string): Point | undefined {
  const n = numbers.get(id);
  return n === undefined ? undefined : { lat: points[2 * n]!, lon: points[2 * n + 1]! };
}

/**
 * Ids of the stations of `source`: those that are in service, of these the ones that an operator has `reopened`, those
 * closed by hand, and those that are parts of other stations, `listed` or not by the newest file; and their places.
 */
export async function idsOfSource(db: Db, source: string) {
  // Three texts for all: a row for each of 300,000 takes ten times as long and twice the memory.
  const sql = `select coalesce(string_agg(s.id, ' '), '') as ids,
       coalesce(string_agg(case when s.removed_at is not null then 'c' when e.in_service then 'r' else 'o' end, ''), '') as states,
       coalesce(string_agg(float8send(coalesce(e.file_lat, s.lat)) || float8send(coalesce(e.file_lon, s.lon)), ''), '') as points
     from stations s left join station_edits e on e.station_id = s.id
     where s.source = ? and (s.removed_at is null or e.in_service = false)`;
  const [found] = await rows<{ ids: string; states: string; points: Buffer }>(db, sql, [source]);
  const ids = found!.ids === "" ? [] : found!.ids.split(" ");
  const points = new Float64Array(new Uint8Array(found!.points.swap64()).buffer);
  const partsSql = `select id, into_id as whole, not gone as listed from station_pairs join stations on id = station_id
     where verdict = 'joined' and source = ?`;
  const parts = await rows<{ id: string; whole: string; listed: boolean }>(db, partsSql, [source]);
  const numbers = new Map<string, number>();
  const known = {
    inService: new Set<string>(),
    reopened: new Set<string>(),
    closed: new Set<string>(),
  };
  for (const [n, id] of ids.entries()) {
    const state = found!.states[n];
    numbers.set(id, n);
    known[state === "c" ? "closed" : "inService"].add(id);
    if (state === "r") known.reopened.add(id);
  }
  for (const { id } of parts) numbers.delete(id);
  return { ...known, places: { numbers, points } satisfies KnownPlaces, parts };
}

/** Notes which parts their source lists: the others say nothing of their wholes, and leave their place to a new row. */
export async function saveListed(
  db: Statements,
  { listed, gone }: { listed: readonly string[]; gone: readonly string[] },
): Promise<void> {
  const sql = `update station_pairs p set gone = not p.gone from unnest(?::text[], ?::bool[]) as part (id, gone)
     where p.station_id = part.id and p.verdict = 'joined' and p.gone <> part.gone`;
  const ids = [...listed, ...gone];
  if (ids.length > 0) await rows(db, sql, [ids, ids.map((_, n) => n >= listed.length)]);
}

async function removeChunk(
  tx: Tx,
  source: string,
  chunk: readonly string[],
  dryRun: boolean,
  stamps: Stamps,
): Promise<{ removed: number; kept: number }> {
  const sql = `select id, removed_at is not null as removed from stations
      where id = any(?::text[]) and source = ? order by id ${dryRun ? "" : "for no key update"}`;
  const stored = await rows<{ id: string; removed: boolean }>(tx, sql, [chunk, source]);
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
  const updateSql =
    "update stations set removed_at = server_now(), updated_at = server_now() where id = any(?::text[])";
  await rows(tx, updateSql, [gone]);
  stamps.gone.push(...gone);
  return counts;
}

interface Stored extends StationRow {
  source: string;
  removed: boolean;
}

/** Compares rows of a file with what is stored, and with what operators have set. */
async function compareChunk(on: Db | Tx, source: string, chunk: readonly StationRow[]) {
  const ids = chunk.map(({ id }) => id);
  const sql = `select id, source, removed_at is not null as removed, ${facts}
      from stations where id = any(?::text[])`;
  const stored = await rows<Stored>(on, sql, [ids]);
  const edited = await readEdits(on, ids);
  const rowsOfFile = chunk.map((row): StationRow => ({ closed: "", ...row }));
  const owns = await readOwn(on, ids);
  const { served, newEdits, newOwn, kept } = withEdits(rowsOfFile, stored, edited, owns);
  const partsSql =
    "select station_id from station_pairs where station_id = any(?::text[]) and verdict = 'joined'";
  const parts = await rows<{ station_id: string }>(on, partsSql, [ids]);
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
  return { touched, counts, newEdits, newOwn, kept, closed };
}

async function applyChunk(
  tx: Tx,
  source: string,
  chunk: readonly StationRow[],
  stamps: Stamps,
): Promise<Applied> {
  await lockStations(
    tx,
    chunk.map(({ id }) => id),
  );
  // Later statements than the lock: in the same one they would not see the operator's edit that it waited for.
  const { touched, counts, newEdits, newOwn, kept, closed } = await compareChunk(tx, source, chunk);
  for (const edits of newEdits) await saveEdits(tx, edits);
  for (const [id, own] of newOwn) await saveOwn(tx, id, own);
  const [out, open] = [true, false].map((isOut) =>
    touched.filter(({ id }) => closed.has(id) === isOut),
  );
  await writeStations(tx, source, open!, false);
  await writeStations(tx, source, out!, true);
  for (const { id } of open!) stamps.served.push(id);
  for (const { id } of out!) stamps.gone.push(id);
  return { ...counts, kept: [...kept.values()].reduce((sum, left) => sum + left, 0) };
}

/**
 * The file's stations as they should be served, the edits and own values (decisions 14.42) for which the file has others,
 * and how many of its values each station leaves for an edit.
 */
function withEdits(
  found: readonly StationRow[],
  stored: readonly Stored[],
  edited: ReadonlyMap<string, HandEdits>,
  owns: ReadonlyMap<string, Own>,
) {
  const newEdits: HandEdits[] = [];
  const newOwn = new Map<string, Own>();
  const kept = new Map<string, number>();
  if (edited.size + owns.size === 0) return { served: found, newEdits, newOwn, kept };
  const before = new Map(stored.map((row) => [row.id, row]));
  const served = found.map((row) => {
    const [edits, own] = [edited.get(row.id), owns.get(row.id) ?? {}];
    const shown = keepShown(row, before.get(row.id) ?? row, edits, own);
    if (JSON.stringify(shown.own) !== JSON.stringify(own)) newOwn.set(row.id, shown.own);
    if (edits === undefined) return shown.station;
    const ruled = overrule(shown.station, before.get(row.id)!, edits);
    kept.set(row.id, ruled.left);
    if (JSON.stringify(ruled.edits) !== JSON.stringify(edits)) newEdits.push(ruled.edits);
    return ruled.station;
  });
  return { served, newEdits, newOwn, kept };
}

/** Inserts or updates stations; `closed` ones, and parts of others, stay out of service. */
async function writeStations(
  tx: Tx,
  source: string,
  touched: readonly StationRow[],
  closed: boolean,
): Promise<void> {
  if (touched.length === 0) return;
  const list = (column: keyof StationRow) => touched.map((station) => station[column]);
  // One list for each column: ten thousand bindings of a thousand rows would cost a second time what Postgres does.
  await rows(
    tx,
    `insert into stations (id, source, ${facts}, updated_at)
     select id, ?, ${facts}, server_now()
     from unnest(?::text[], ?::float8[], ?::float8[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
       as r (id, ${facts})
     -- Setting the id, even to its own value, would lock out workers whose rows refer to the station, and deadlock.
     on conflict (id) do update set source = excluded.source, updated_at = excluded.updated_at,
       ${factNames.map((name) => `${name} = excluded.${name}`).join()}
       ${closed ? "" : ", removed_at = null"}`,
    [source, list("id"), ...factNames.map(list)],
  );
}
