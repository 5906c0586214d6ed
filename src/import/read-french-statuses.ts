import type { Point } from "#src/domain/geo.ts";
import { parseTime } from "#src/domain/time.ts";
import { hourMs } from "#src/domain/units.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";
import { csvRecords, endsWithLine } from "#src/import/csv-lines.ts";
import { holdsNone, refuse } from "#src/import/file-import.ts";
import { advice, wrongFile, type ReadProgress } from "#src/import/read-text.ts";
import {
  pointFrom,
  type SourceStatus,
  type StatusesRead,
  type StatusFile,
} from "#src/import/read-statuses.ts";

const ruptureColumns = ["id", "nom", "debut", "fin", "station_id"] as const;
const stationColumns = ["id", "latitude", "longitude"] as const;

/** The fuels of the French feed that correspond to one of our grades. E10 is sold as 95. */
const gradeOf = new Map<string, Grade>([
  ["SP95", "95"],
  ["E10", "95"],
  ["SP98", "98"],
  ["Gazole", "ДТ"],
]);

/** A station's fuels without stock: the newest stock-out of each (ms), and its number of lines. */
type Ruptures = Map<string, { since: number; lines: number }>;

/**
 * Statuses from the stock-out file of the French open data on fuel prices (docs/imports.md): open stock-outs, local
 * times of Paris. A stock-out as old as `notSoldMs` means that the station does not sell the fuel; a fuel without one
 * is available. Throws wrong-file faults like the other readers.
 */
export async function readFrenchRuptures(
  file: StatusFile,
  progress: ReadProgress,
): Promise<StatusesRead> {
  const result: StatusesRead = { read: 0, statuses: [], refused: 0, reasons: {} };
  const stations = await readOpenRuptures(file, result, progress);
  for (const [id, ruptures] of stations) {
    const old = [...ruptures.values()].filter(({ since }) => since <= file.now - file.notSoldMs);
    refuse(result, "not-sold-here", linesOf(old));
    const status = statusFrom(file, id, ruptures);
    if (status !== null) result.statuses.push(status);
  }
  return result;
}

/** The open stock-outs by station; other lines are refused. */
async function readOpenRuptures(
  { path, locations, now }: StatusFile,
  result: StatusesRead,
  progress: ReadProgress,
): Promise<Map<string, Ruptures>> {
  const stations = new Map<string, Ruptures>();
  let last = { line: 0, station: "" };
  const records = csvRecords(path, { required: ruptureColumns }, progress);
  for await (const { line: number, fields: line } of records) {
    result.read += 1;
    last = { line: number, station: line.station_id };
    const since = localTime(line.debut);
    const until = line.fin === "" ? Number.POSITIVE_INFINITY : localTime(line.fin);
    if (!gradeOf.has(line.nom)) refuse(result, "other-fuel");
    else if (since === null || until === null) refuse(result, "bad-time");
    else if (until <= now) refuse(result, "over");
    else {
      const ruptures: Ruptures = stations.get(line.station_id) ?? new Map();
      const earlier = ruptures.get(line.nom) ?? { since, lines: 0 };
      ruptures.set(line.nom, { since: Math.max(earlier.since, since), lines: earlier.lines + 1 });
      stations.set(line.station_id, ruptures);
    }
  }
  if (result.read === 0) throw holdsNone("stock-out", result);
  // The station is the last column, and a shortened id would name no station or another one.
  if (!locations.has(last.station) && !(await endsWithLine(path)))
    throw wrongFile("it ends in the middle", advice.cut, last.line);
  return stations;
}

/** `no` when every fuel that the station sells is out, else `low`; null when no fuel is out. */
function statusFrom(
  { source, now, notSoldMs, locations }: StatusFile,
  id: string,
  ruptures: Ruptures,
): SourceStatus | null {
  const out = [...ruptures].filter(([, { since }]) => since > now - notSoldMs);
  if (out.length === 0) return null;
  const isThere = (fuel: string): boolean => !ruptures.has(fuel);
  const fuels = [...gradeOf.keys()];
  const gone = new Set(out.map(([fuel]) => gradeOf.get(fuel)));
  for (const fuel of fuels.filter(isThere)) gone.delete(gradeOf.get(fuel));
  return {
    ids: [`${source}-${id}`, id],
    point: locations.get(id) ?? null,
    status: fuels.some(isThere) ? "low" : "no",
    fuelsNow: [],
    fuelsNo: grades.filter((grade) => gone.has(grade)),
    updated: Math.max(...out.map(([, { since }]) => since)),
    lines: linesOf(out.map(([, rupture]) => rupture)),
  };
}

const linesOf = (ruptures: readonly { lines: number }[]): number =>
  ruptures.reduce((sum, { lines }) => sum + lines, 0);

function localTime(text: string): number | null {
  const local = parseTime(text);
  return local === null ? null : fromParis(local);
}

/** The positions of the feed's stations. Throws a wrong-file fault for another table. */
export async function readFrenchStations(path: string): Promise<Map<string, Point | null>> {
  const locations = new Map<string, Point | null>();
  const records = csvRecords(path, { required: stationColumns }, () => undefined);
  for await (const { fields } of records)
    locations.set(fields.id, pointFrom(fields.latitude, fields.longitude));
  if (locations.size === 0) throw holdsNone("station", { read: 0, reasons: {} });
  return locations;
}

const paris = new Intl.DateTimeFormat("en", {
  timeZone: "Europe/Paris",
  timeZoneName: "shortOffset",
});

/** Hours by which Paris is ahead of UTC at a moment (ms). */
const parisAheadH = (ms: number): number => Number(/GMT\+(\d)/.exec(paris.format(ms))?.[1]);

/**
 * The moment (ms) at which a clock in Paris shows `local` (ms, read as if it were UTC). In October's repeated hour it
 * is the first of the two; in the hour that March skips, an hour is added.
 */
function fromParis(local: number): number {
  for (const aheadH of [2, 1])
    if (parisAheadH(local - aheadH * hourMs) === aheadH) return local - aheadH * hourMs;
  return local - hourMs;
}
