import { databaseNow } from "#src/infrastructure/clock.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { formatTime } from "#src/domain/time.ts";
import { hourMs } from "#src/domain/units.ts";
import {
  importFile,
  type ImportOptions,
  type ImportSummary,
  refuse,
  type Refused,
  summaryOf,
} from "#src/import/file-import.ts";
import { guardAllNo } from "#src/import/guards.ts";
import { applyImportedStatuses, type ImportedStatus } from "#src/import/imported-statuses.ts";
import type { FileFault, ReadProgress } from "#src/import/read-text.ts";
import { readStatusCsv, type StatusesRead, type StatusFormat } from "#src/import/read-statuses.ts";
import { type RefusalsFault, withRefusedRows } from "#src/import/refusals.ts";
import { idOf, severalOf, stationIdIn, stationsByOwnId } from "#src/stations/own-ids.ts";
import { sourceNamed } from "#src/import/source-list.ts";
import { readSourceStock } from "#src/import/source-stock.ts";

export interface StatusImportOptions extends Pick<
  ImportOptions<StatusFormat>,
  "path" | "dryRun" | "refusals" | "progress" | "waiting"
> {
  source: string;
  /** Older statuses are left out. A value above the life of a status has no effect. */
  maxAgeMs: number;
  /** Reads the file as if it were this moment (ms): all its times are moved by the time since then. */
  asOf: number | null;
  /** Names of guards that are ignored: `all-no`. */
  force?: readonly string[] | undefined;
  /** Called after each commit with the stations that the marks worker has to refold. */
  touched: (stationIds: string[]) => void;
}

/** A file in one of the formats of statuses. */
export interface StatusFileOptions extends StatusImportOptions {
  format: StatusFormat;
  /** fr-ruptures: the file with the positions of the stations; null to match only by id. */
  stationsPath: string | null;
  /** fr-ruptures: an older stock-out means that the station does not sell the fuel. */
  notSoldMs: number;
}

/** The result of an import of statuses. `read`, `merged` and `refused` count lines, `added` and `changed` stations. */
export interface StatusSummary extends Omit<ImportSummary, "removed" | "doubtful"> {
  /** Number of added and changed stations that show people's marks, which an import never replaces. */
  behind_marks: number;
  /** Hours by which all times were moved, null without --as-of. */
  moved_h: number | null;
}

const nearM = 50;
const aheadMs = 300_000;

/** Imports statuses from a file of the plain CSV, or of French stock-outs. */
export function importStatuses(
  db: Db,
  config: Config,
  options: StatusFileOptions,
): Promise<(StatusSummary & RefusalsFault) | FileFault> {
  const { path, stationsPath, source: label, notSoldMs, format } = options;
  const french = sourceNamed("fr-prix-carburants-csv")!;
  const files = new Map([["stockouts", { path, spec: { format: "csv" as const } }]]);
  if (stationsPath !== null)
    files.set("stations", { path: stationsPath, spec: { format: "csv" as const } });
  const inputs = [path, ...(stationsPath === null ? [] : [stationsPath])];
  return withRefusedRows(options.refusals, inputs, (rows) =>
    importStatusRows(db, config, { ...options, format }, (now, progress) =>
      format === "csv"
        ? readStatusCsv(path, progress, rows)
        : readSourceStock(french, files, { label, now, notSoldMs, progress, rows }),
    ),
  );
}

/**
 * Imports the statuses that `read` finds (decisions 6): with their source's age, without confirmations, behind any live
 * status of people. Files are read and checked to their end before the first row changes.
 */
export async function importStatusRows(
  db: Db,
  config: Config,
  options: StatusImportOptions & { format: string },
  read: (now: number, onBytes: ReadProgress) => Promise<StatusesRead>,
): Promise<StatusSummary | FileFault> {
  const serverMs = await databaseNow(db);
  const now = options.asOf ?? serverMs;
  return importFile(
    db,
    options,
    "statuses",
    (onBytes) => read(now, onBytes),
    (staged) => apply(db, config, options, staged, { now, movedMs: serverMs - now }),
  );
}

async function apply(
  db: Db,
  config: Config,
  options: StatusImportOptions & { format: string },
  staged: StatusesRead,
  { now, movedMs }: { now: number; movedMs: number },
): Promise<StatusSummary> {
  const { source, maxAgeMs, asOf, dryRun, progress, touched } = options;
  refuseUntimely(staged, now, Math.min(maxAgeMs, config.statusLifetimeMs));
  const statuses = (await atOurStations(db, source, staged)).map((status) => ({
    ...status,
    updated: Math.min(status.updated, now) + movedMs,
  }));
  await guardAllNo(db, options, statuses);
  const applied = await applyImportedStatuses(db, source, statuses, config, dryRun, (ids, done) => {
    if (!dryRun) touched(ids);
    progress("saving", done, statuses.length);
  });
  for (const one of applied.older)
    leaveOut(staged, "older-than-known", one, { field: "updated", value: one.written });
  const { added, changed, unchanged, behindMarks } = applied;
  const merged = staged.read - staged.refused - added - changed - unchanged;
  return {
    ...summaryOf(options, staged, { added, changed, unchanged, merged }),
    behind_marks: behindMarks,
    moved_h: asOf === null ? null : Math.round(movedMs / (hourMs / 10)) / 10,
  };
}

const leaveOut = (
  staged: StatusesRead,
  reason: string,
  { lines, place, own }: Pick<ImportedStatus, "lines" | "place" | "own">,
  about: Refused["about"],
): void => refuse(staged, reason, lines, { place, id: own, ...about });

/** Refuses statuses that are older than `maxAgeMs`, or of a time to come. */
export function refuseUntimely(staged: StatusesRead, now: number, maxAgeMs: number): void {
  staged.statuses = staged.statuses.filter((one) => {
    const { updated, written } = one;
    const fault =
      updated > now + aheadMs ? "in-the-future" : updated <= now - maxAgeMs ? "too-old" : null;
    const about = { field: "updated", value: written || formatTime(updated) };
    if (fault !== null) leaveOut(staged, fault, one, about);
    return fault === null;
  });
}

/** The statuses at our stations. When two stations of the file are one of ours, the nearer one counts, then the newer. */
async function atOurStations(
  db: Db,
  source: string,
  staged: StatusesRead,
): Promise<ImportedStatus[]> {
  const find = await createStationFinder(db, source, staged);
  const taken = new Map<string, ImportedStatus & { metres: number }>();
  for (const { point, ...status } of staged.statuses) {
    const { own } = status;
    const station = find(own, point);
    if ("refused" in station) {
      const where = point && { field: "lat, lon", value: `${point.lat} ${point.lon}` };
      const about = where ?? { field: "station_id", value: own };
      leaveOut(staged, station.refused, status, { ...about, ...station.about });
      continue;
    }
    const found = { ...status, stationId: station.id, metres: station.metres };
    const other = taken.get(station.id);
    const counts =
      other === undefined ||
      found.metres < other.metres ||
      (found.metres === other.metres && found.updated > other.updated);
    if (other !== undefined) {
      const [left, kept] = counts ? [other, found] : [found, other];
      leaveOut(staged, "same-station", left, { field: "station_id", value: kept.own });
    }
    if (counts) taken.set(station.id, found);
  }
  return [...taken.values()];
}

/**
 * Finds the stations that an import of `source` names: by the id of this source, by ours, by the id of the one source
 * that has it (decisions 14.47), also that of a part; else the nearest one within `nearM` metres (ties by id). `metres`
 * is 0 for a station found by its id.
 */
async function createStationFinder(db: Db, source: string, { statuses }: StatusesRead) {
  const sql = "select id, lat, lon from stations where removed_at is null";
  const stations = await rows<Point & { id: string }>(db, sql);
  const stationsSql =
    "select station_id as part, into_id as whole from station_pairs where verdict = 'joined'";
  const parts = await rows<{ part: string; whole: string }>(db, stationsSql);
  const wholes = new Map(parts.map(({ part, whole }) => [part, whole]));
  const ids = new Set(stations.map(({ id }) => id));
  const namedSql = "select plain, station_id as id from source_ids where source = ?";
  const named = await rows<{ plain: string; id: string }>(db, namedSql, [source]);
  const ours = new Map(named.map(({ plain, id }) => [plain, id]));
  const byId = (own: string): string | undefined => {
    const plain = idOf(source, own);
    return [ours.get(plain) ?? plain, stationIdIn(own)]
      .map((id) => wholes.get(id) ?? id)
      .find((id) => ids.has(id));
  };
  const unknown = statuses.map(({ own }) => own).filter((own) => byId(own) === undefined);
  const others = await stationsByOwnId(db, unknown);
  /** Stations by rows of latitude, each `nearM` high. */
  const rowOf = ({ lat }: Point): number => Math.floor((lat * 111_000) / nearM);
  const byRow = grouped(stations, rowOf);
  const nearest = (point: Point): { id: string; metres: number } | Refused => {
    const row = rowOf(point);
    const [found] = [row - 1, row, row + 1]
      .flatMap((near) => byRow.get(near) ?? [])
      .map((station) => ({ id: station.id, metres: distanceM(point, station) }))
      .filter(({ metres }) => metres <= nearM)
      .sort((a, b) => a.metres - b.metres || (a.id < b.id ? -1 : 1));
    return found ?? { refused: "no-station-near" };
  };
  return (own: string, point: Point | null): { id: string; metres: number } | Refused => {
    const all = (others.get(own) ?? []).filter(({ id }) => ids.has(id));
    const value = severalOf(own, all);
    if (value !== null) return { refused: "ambiguous-id", about: { field: "station_id", value } };
    const id = byId(own) ?? all[0]?.id;
    if (id !== undefined) return { id, metres: 0 };
    return point === null ? { refused: "unknown-station" } : nearest(point);
  };
}
