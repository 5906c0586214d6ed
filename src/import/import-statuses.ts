import type { Config } from "#src/infrastructure/config.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import type { Point } from "#src/domain/geo.ts";
import { hourMs } from "#src/domain/units.ts";
import { createStationFinder, type PlacedStation } from "#src/import/find-station.ts";
import { asFault } from "#src/import/read-text.ts";
import { applySeeds, type NewSeed } from "#src/import/seed-rows.ts";
import { withSourceLock } from "#src/import/source-lock.ts";
import { readStatusCsv } from "#src/import/statuses-csv.ts";
import { readFrenchRuptures, readFrenchStations } from "#src/import/statuses-fr.ts";
import { refuseLines, type StatusesRead, type StatusFormat } from "#src/import/statuses-read.ts";
import { type FileFault, isFault, type Reasons } from "#src/import/summary.ts";
import { msOf } from "#src/marks/marks.ts";

export interface StatusImportOptions {
  path: string;
  format: StatusFormat;
  /** fr-ruptures: the file that says where the stations are; null to match by id alone. */
  stationsPath: string | null;
  source: string;
  /** A status whose source's time is as long ago is left out. At most the life of a status is of use. */
  maxAgeMs: number;
  /** fr-ruptures: a stock-out as old means that the fuel is not sold there. */
  notSoldMs: number;
  /** Takes the file as if it were this moment (ms): all its times are moved by what has passed since. */
  asOf: number | null;
  dryRun: boolean;
  progress: (step: "reading" | "saving", done: number, total: number | null) => void;
  waiting: () => void;
  /** Stations for the marks worker to fold anew, after each commit. */
  touched: (stationIds: string[]) => void;
}

/** What an import of statuses did; `read` = added + changed + unchanged + merged + refused. */
export interface StatusSummary {
  source: string;
  format: StatusFormat;
  dry_run: boolean;
  /** Lines. */
  read: number;
  /** Stations that had no imported status. */
  added: number;
  changed: number;
  unchanged: number;
  /** Further lines about the same station. */
  merged: number;
  /** Lines left out. */
  refused: number;
  reasons: Reasons;
  /** Stations of the added and changed that show people's marks, which an import never replaces. */
  behind_marks: number;
  /** Hours by which all times were moved, null without --as-of. */
  moved_h: number | null;
}

const nearM = 50;
const aheadMs = 300_000;

/**
 * Imports statuses as seeded ones (decisions.md 6): as old as their source says, without confirmations, behind any
 * live status of people. The file is read and checked to its end before the first row changes.
 */
export async function importStatuses(
  db: Db,
  config: Config,
  options: StatusImportOptions,
): Promise<StatusSummary | FileFault> {
  const { path, stationsPath, source, notSoldMs, progress } = options;
  const [clock] = await rows<{ now: number }>(db, `select ${msOf("server_now()")} as now`);
  const now = options.asOf ?? clock!.now;
  const read = options.format === "csv" ? readStatusCsv : readFrenchRuptures;
  const places =
    stationsPath === null
      ? new Map<string, Point | null>()
      : await asFault(stationsPath, () => readFrenchStations(stationsPath));
  if (isFault(places)) return places;
  const file = { path, places, source, now, notSoldMs };
  const staged = await asFault(path, () => read(file, (bytes) => progress("reading", bytes, null)));
  if (isFault(staged)) return staged;
  return withSourceLock(db, "statuses", options.waiting, () =>
    apply(db, config, options, staged, { now, movedMs: clock!.now - now }),
  );
}

async function apply(
  db: Db,
  config: Config,
  { source, format, maxAgeMs, asOf, dryRun, progress, touched }: StatusImportOptions,
  staged: StatusesRead,
  { now, movedMs }: { now: number; movedMs: number },
): Promise<StatusSummary> {
  refuseUntimely(staged, now, Math.min(maxAgeMs, config.statusLifetimeMs));
  const seeds = (await placed(db, staged)).map((seed) => ({
    ...seed,
    updated: Math.min(seed.updated, now) + movedMs,
  }));
  const applied = await applySeeds(db, source, seeds, config, dryRun, (ids, done) => {
    if (!dryRun) touched(ids);
    progress("saving", done, seeds.length);
  });
  for (const seed of applied.older) refuseLines(staged, "older-than-known", seed.lines);
  const { added, changed, unchanged, behindMarks } = applied;
  return {
    source,
    format,
    dry_run: dryRun,
    read: staged.read,
    added,
    changed,
    unchanged,
    merged: staged.read - staged.refused - added - changed - unchanged,
    refused: staged.refused,
    reasons: staged.reasons,
    behind_marks: behindMarks,
    moved_h: asOf === null ? null : Math.round(movedMs / (hourMs / 10)) / 10,
  };
}

function refuseUntimely(staged: StatusesRead, now: number, maxAgeMs: number): void {
  staged.statuses = staged.statuses.filter(({ updated, lines }) => {
    const fault =
      updated > now + aheadMs ? "in-the-future" : updated <= now - maxAgeMs ? "too-old" : null;
    if (fault !== null) refuseLines(staged, fault, lines);
    return fault === null;
  });
}

/** The statuses at our own stations; where two of the file's stations are one of ours, the nearer counts. */
async function placed(db: Db, staged: StatusesRead): Promise<NewSeed[]> {
  const stations = await rows<PlacedStation>(
    db,
    "select id, lat, lon from stations where removed_at is null",
  );
  const find = createStationFinder(stations, nearM);
  const taken = new Map<string, NewSeed & { metres: number }>();
  for (const { ids, point, ...status } of staged.statuses) {
    const found = find(ids, point);
    if ("refused" in found) {
      refuseLines(staged, found.refused, status.lines);
      continue;
    }
    const seed = { ...status, stationId: found.id, metres: found.metres };
    const other = taken.get(found.id);
    const isNearer = other === undefined || seed.metres < other.metres;
    if (other !== undefined) refuseLines(staged, "same-station", (isNearer ? other : seed).lines);
    if (isNearer) taken.set(found.id, seed);
  }
  return [...taken.values()];
}
