import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable, rows, type Db } from "#src/infrastructure/db.ts";
import { lockIds } from "#src/infrastructure/locks.ts";
import type { RefusedRow, RefusedRows } from "#src/import/refusals.ts";
import { advice, asFault, type FileFault, isFault, wrongFile } from "#src/import/read-text.ts";

export interface ImportOptions<Format extends string> {
  path: string;
  format: Format | undefined;
  /** The import that these rows belong to: --replace-source affects only its rows. Undefined by default. */
  source: string | undefined;
  replaceSource: boolean;
  /** Rows that --replace-source may remove, if that is more than usual (decisions 13.22). */
  allowRemovals?: number | undefined;
  dryRun: boolean;
  /** A file for all refused rows as CSV. */
  refusals?: string | undefined;
  /** Called with the progress: bytes of the file, then rows. */
  progress: (step: "reading" | "saving", done: number, total: number | null) => void;
  /** Called once when another import of the same source has to end first. */
  waiting: () => void;
}

/** Reasons of refused items of a file, with their numbers. */
export type Reasons = Record<string, number>;

/** Two objects of a file that may be one station, for a person to check. */
export interface Doubtful {
  ids: readonly [string, string];
  distance_m: number;
  reason:
    | "different names"
    | "different addresses"
    | "25 to 40 m apart"
    | "two objects of one kind";
}

/** The result of an import; `read` = added + changed + unchanged + merged + refused. */
export interface ImportSummary {
  source: string;
  format: string;
  dry_run: boolean;
  read: number;
  added: number;
  changed: number;
  unchanged: number;
  merged: number;
  /** Stations taken out of service: absent with --replace-source, or now known to be a double. */
  removed: number;
  /** Values of the file that are not applied, because an operator has set others by hand. Stations only. */
  kept_by_hand?: number;
  /** Stations that have a new id of their source; they stay under the old one. Stations only. */
  renumbered?: number;
  /** Stations that other sources have too: those that are one station now, and pairs that a person decides. */
  joined?: number;
  asked?: number;
  refused: number;
  reasons: Reasons;
  doubtful: readonly Doubtful[];
}

/** A file that was read to its end, each id once. `read` = found + refused + repeated. */
export interface Collected<Row> {
  read: number;
  found: Row[];
  refused: number;
  reasons: Reasons;
  /** Items that only add to a row that was there before; not in `found`. */
  repeated: number;
  /** Takes each refused row, if somebody wants to see them. */
  rows?: RefusedRows | undefined;
}

/**
 * Reads and checks a file to its end, then applies it while no other process works on the same `subject` ("stations of
 * osm"). Calls `waiting` once when it has to wait for another process.
 */
export async function importFile<Staged extends object, Summary extends object>(
  db: Db,
  { path, progress, waiting }: Pick<ImportOptions<string>, "path" | "progress" | "waiting">,
  subject: string,
  read: (onBytes: (bytes: number) => void) => Promise<Staged>,
  apply: (staged: Staged) => Promise<Summary>,
): Promise<Summary | FileFault> {
  const staged = await asFault(path, () => read((bytes) => progress("reading", bytes, null)));
  if (isFault(staged)) return staged;
  try {
    return await asFault(path, () => withSourceLock(db, subject, waiting, () => apply(staged)));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    const cause = (error as Error).message;
    return {
      fault: `${path}: Postgres stopped answering (${cause}). What was saved until then stays. Import the same file again: it does the rest.`,
      brokeOff: true,
    };
  }
}

/** Removals that need no permission: a tenth of the source, but ten, or half of it, of a small one. */
const removalsUsual = (known: number): number =>
  Math.max(Math.floor(known / 10), Math.min(10, Math.ceil(known / 2)));

/** Throws a wrong-file fault when a file that replaces a source would take away more than a complete file does. */
export function refuseRemovals(
  {
    source,
    allowRemovals = 0,
    force = [],
  }: {
    source: string;
    allowRemovals?: number | undefined;
    force?: readonly string[] | undefined;
  },
  what: string,
  removed: number,
  known: number,
  { fresh = 0, asked = 0 }: { fresh?: number; asked?: number } = {},
): void {
  const away = removed + asked;
  if (away <= Math.max(removalsUsual(known), allowRemovals) || force.includes("removals")) return;
  throw wrongFile(
    asked > 0
      ? `${away} of the ${known} ${what} of source "${source}" are not in the file, of which ${asked} may be new ones`
      : `${away} of the ${known} ${what} of source "${source}" are not in the file and would be removed`,
    fresh * 2 > away
      ? `The file has ${fresh} new ones in their place: the source may have numbered its ${what} anew, and place, brand and address do not show which is which. Do not let the old ones go, their ids and marks would go with them: import it without replacing the source, then look at \`station doubtful\`.`
      : `The file may be a part of the country, or of another source. If it is complete, allow ${away} removals, or use \`--force removals\`, and import it again.`,
  );
}

/** The common part of all imports' summaries. */
export const summaryOf = <Counts extends object>(
  { source, format, dryRun }: { source: string; format: string; dryRun: boolean },
  { read, refused, reasons }: Pick<Collected<never>, "read" | "refused" | "reasons">,
  counts: Counts,
) => ({ source, format, dry_run: dryRun, read, ...counts, refused, reasons });

/** Runs `work` under a lock, which ends with its connection when this process dies; it needs one connection more. */
const withSourceLock = <T>(
  db: Db,
  subject: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    // The limit for frozen processes must not end this session, which idles while `work` runs on others.
    await tx.raw("set local idle_in_transaction_session_timeout = 0");
    const attempt = async (): Promise<boolean> => {
      const sql = "select pg_try_advisory_xact_lock(?, hashtext(?)) as got";
      const [lock] = await rows<{ got: boolean }>(tx, sql, [lockIds.importSource, subject]);
      return lock!.got;
    };
    if (!(await attempt())) {
      onWait();
      while (!(await attempt())) await sleep(200);
    }
    return work();
  });

/** Collects the rows that `rowFrom` makes of a file's items. Throws a wrong-file fault for a file without any `what`. */
export async function collect<Item, Row extends { id: string; own?: string }>(
  items: AsyncIterable<Item | Item[]>,
  what: string,
  rowFrom: (item: Item) => Row | Refused | null,
  {
    rows,
    placeOf = () => "",
  }: { rows?: RefusedRows | undefined; placeOf?: (item: Item) => string } = {},
): Promise<Collected<Row>> {
  const result: Collected<Row> = { read: 0, found: [], refused: 0, reasons: {}, repeated: 0, rows };
  const ids = new Set<string>();
  const take = (item: Item): void => {
    result.read += 1;
    const row = rowFrom(item);
    if (row === null) result.repeated += 1;
    else if ("refused" in row)
      refuse(result, row.refused, 1, { place: placeOf(item), ...row.about });
    else if (ids.has(row.id))
      refuse(result, "repeated-id", 1, {
        ...{ place: placeOf(item), id: row.own ?? row.id, field: "id" },
      });
    else {
      ids.add(row.id);
      result.found.push(row);
    }
  };
  for await (const some of items)
    if (Array.isArray(some)) for (const item of some) take(item);
    else take(some);
  if (result.found.length === 0) throw holdsNone(what, result);
  return result;
}

/** A fault of a file in which not one line, or object, can be taken. */
export function holdsNone(
  what: string,
  { read, reasons }: { read: number; reasons: Reasons },
): Error {
  if ((reasons["in-metres"] ?? 0) > read / 2) throw inMetres(reasons["in-metres"]!, read);
  const counts = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  const why =
    counts.length === 0
      ? ""
      : `: ${read === 1 ? "the only entry was" : `all ${read} entries were`} left out (${counts.join(", ")})`;
  return wrongFile(`it holds no ${what}${why}`, advice.kind);
}

/** A fault of a file whose positions are on a plane map, which shows in their size. */
const inMetres = (count: number, read: number): Error =>
  wrongFile(
    `${count} of its ${read} positions are in metres, as in EPSG:3857 or another projection, not in degrees`,
    "Export it again in WGS 84 (EPSG:4326), or convert it: `ogr2ogr -t_srs EPSG:4326 OUT IN`.",
  );

/** True for coordinates that can only be metres. */
export const isInMetres = (lat: number, lon: number): boolean =>
  Math.abs(lat) > 1000 && Math.abs(lon) > 1000 && Math.abs(lat) < 1e8 && Math.abs(lon) < 1e8;

/** Why an item of a file is left out, and by which of its values. */
export interface Refused {
  refused: string;
  about?: Partial<RefusedRow>;
}

/** Counts lines of a file that are left out for a reason, and passes on what is known of them. */
export function refuse(
  into: { refused: number; reasons: Reasons; rows?: RefusedRows | undefined },
  reason: string,
  lines = 1,
  about: Partial<RefusedRow> = {},
): void {
  into.refused += lines;
  if (lines === 0) return;
  into.reasons[reason] = (into.reasons[reason] ?? 0) + lines;
  const { place = "", id = "", field = "", value = "" } = about;
  into.rows?.add({ place, id, field, value, reason });
}

export type Compared = Pick<ImportSummary, "added" | "changed" | "unchanged">;

/** Compares the rows of a file with the stored ones of this source. */
export function compareRows<Row extends { id: string }>(
  source: string,
  found: readonly Row[],
  stored: readonly (Row & { source: string | null })[],
): Compared & { touched: Row[] } {
  const before = new Map(stored.map((row) => [row.id, row]));
  const touched = found.filter((row) => {
    const was = before.get(row.id);
    const names = Object.keys(row) as (keyof Row)[];
    return was?.source !== source || names.some((name) => was[name] !== row[name]);
  });
  const added = touched.filter(({ id }) => !before.has(id)).length;
  const changed = touched.length - added;
  return { added, changed, unchanged: found.length - touched.length, touched };
}
