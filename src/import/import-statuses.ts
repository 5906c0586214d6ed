import { databaseNow } from "#src/infrastructure/clock.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import { hourMs } from "#src/domain/units.ts";
import {
  importFile,
  type ImportOptions,
  type ImportSummary,
  refuse,
  summaryOf,
} from "#src/import/file-import.ts";
import { applyImportedStatuses, type ImportedStatus } from "#src/import/imported-statuses.ts";
import { asFault, type FileFault, isFault } from "#src/import/read-text.ts";
import { readFrenchRuptures, readFrenchStations } from "#src/import/read-french-statuses.ts";
import { readStatusCsv, type StatusesRead, type StatusFormat } from "#src/import/read-statuses.ts";

export interface StatusImportOptions extends Pick<
  ImportOptions<StatusFormat>,
  "path" | "dryRun" | "progress" | "waiting"
> {
  format: StatusFormat;
  /** fr-ruptures: the file with the positions of the stations; null to match only by id. */
  stationsPath: string | null;
  source: string;
  /** Older statuses are left out. A value above the life of a status has no effect. */
  maxAgeMs: number;
  /** fr-ruptures: an older stock-out means that the station does not sell the fuel. */
  notSoldMs: number;
  /** Reads the file as if it were this moment (ms): all its times are moved by the time since then. */
  asOf: number | null;
  /** Called after each commit with the stations that the marks worker has to refold. */
  touched: (stationIds: string[]) => void;
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

/**
 * Imports statuses (decisions 6): with their source's age, without confirmations, behind any live status of people. The
 * file is read and checked to its end before the first row changes.
 */
export async function importStatuses(
  db: Db,
  config: Config,
  options: StatusImportOptions,
): Promise<StatusSummary | FileFault> {
  const { path, stationsPath, source, notSoldMs } = options;
  const serverMs = await databaseNow(db);
  const now = options.asOf ?? serverMs;
  const read = options.format === "csv" ? readStatusCsv : readFrenchRuptures;
  const locations =
    stationsPath === null
      ? new Map<string, Point | null>()
      : await asFault(stationsPath, () => readFrenchStations(stationsPath));
  if (isFault(locations)) return locations;
  const file = { path, locations, source, now, notSoldMs };
  return importFile(
    db,
    options,
    "statuses",
    (onBytes) => read(file, onBytes),
    (staged) => apply(db, config, options, staged, { now, movedMs: serverMs - now }),
  );
}

async function apply(
  db: Db,
  config: Config,
  options: StatusImportOptions,
  staged: StatusesRead,
  { now, movedMs }: { now: number; movedMs: number },
): Promise<StatusSummary> {
  const { source, maxAgeMs, asOf, dryRun, progress, touched } = options;
  refuseUntimely(staged, now, Math.min(maxAgeMs, config.statusLifetimeMs));
  const statuses = (await atOurStations(db, staged)).map((status) => ({
    ...status,
    updated: Math.min(status.updated, now) + movedMs,
  }));
  const applied = await applyImportedStatuses(db, source, statuses, config, dryRun, (ids, done) => {
    if (!dryRun) touched(ids);
    progress("saving", done, statuses.length);
  });
  for (const { lines } of applied.older) refuse(staged, "older-than-known", lines);
  const { added, changed, unchanged, behindMarks } = applied;
  const merged = staged.read - staged.refused - added - changed - unchanged;
  return {
    ...summaryOf(options, staged, { added, changed, unchanged, merged }),
    behind_marks: behindMarks,
    moved_h: asOf === null ? null : Math.round(movedMs / (hourMs / 10)) / 10,
  };
}

function refuseUntimely(staged: StatusesRead, now: number, maxAgeMs: number): void {
  staged.statuses = staged.statuses.filter(({ updated, lines }) => {
    const fault =
      updated > now + aheadMs ? "in-the-future" : updated <= now - maxAgeMs ? "too-old" : null;
    if (fault !== null) refuse(staged, fault, lines);
    return fault === null;
  });
}

/** The statuses at our stations. When two stations of the file are one of ours, the nearer one counts. */
async function atOurStations(db: Db, staged: StatusesRead): Promise<ImportedStatus[]> {
  const sql = "select id, lat, lon from stations where removed_at is null";
  const find = createStationFinder(await rows<Point & { id: string }>(db, sql));
  const taken = new Map<string, ImportedStatus & { metres: number }>();
  for (const { ids, point, ...status } of staged.statuses) {
    const station = find(ids, point);
    if ("refused" in station) {
      refuse(staged, station.refused, status.lines);
      continue;
    }
    const found = { ...status, stationId: station.id, metres: station.metres };
    const other = taken.get(station.id);
    const isNearer = other === undefined || found.metres < other.metres;
    if (other !== undefined) refuse(staged, "same-station", (isNearer ? other : found).lines);
    if (isNearer) taken.set(station.id, found);
  }
  return [...taken.values()];
}

/**
 * Finds the stations that an import names: by one of their ids, else the nearest one within `nearM` metres (ties by
 * id). `metres` is 0 for a station found by its id.
 */
function createStationFinder(stations: readonly (Point & { id: string })[]) {
  const ids = new Set(stations.map(({ id }) => id));
  /** Stations by rows of latitude, each `nearM` high. */
  const rowOf = ({ lat }: Point): number => Math.floor((lat * 111_000) / nearM);
  const byRow = grouped(stations, rowOf);
  const nearest = (point: Point) => {
    const row = rowOf(point);
    const [found] = [row - 1, row, row + 1]
      .flatMap((near) => byRow.get(near) ?? [])
      .map((station) => ({ id: station.id, metres: distanceM(point, station) }))
      .filter(({ metres }) => metres <= nearM)
      .sort((a, b) => a.metres - b.metres || (a.id < b.id ? -1 : 1));
    return found ?? { refused: "no-station-near" as const };
  };
  return (names: readonly string[], point: Point | null) => {
    const id = names.find((name) => ids.has(name));
    if (id !== undefined) return { id, metres: 0 };
    return point === null ? { refused: "unknown-station" as const } : nearest(point);
  };
}
