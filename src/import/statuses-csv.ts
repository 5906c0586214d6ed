import { parseTime } from "#src/domain/time.ts";
import { type Grade, grades, parseGrade, statuses } from "#src/domain/vocabulary.ts";
import { csvRecords, endsWithLine } from "#src/import/csv-lines.ts";
import { refuse } from "#src/import/file-import.ts";
import { wrongFile, type ReadProgress } from "#src/import/read-text.ts";
import {
  pointFrom,
  type SourceStatus,
  type StatusesRead,
  type StatusFile,
} from "#src/import/statuses-read.ts";

const required = ["station_id", "status", "fuels_now", "fuels_no", "updated"] as const;
const optional = ["lat", "lon"] as const;
type Line = Record<(typeof required)[number] | (typeof optional)[number], string>;

/**
 * Statuses of the plain CSV (docs/imports.md). Several lines about one station: the newest counts. Throws a
 * wrong-file fault for another table, for one whose last line is cut off, and for one without a single good line.
 */
export async function readStatusCsv(
  { path, source }: StatusFile,
  progress: ReadProgress,
): Promise<StatusesRead> {
  const result: StatusesRead = { read: 0, statuses: [], refused: 0, reasons: {} };
  const byId = new Map<string, SourceStatus>();
  let last: SourceStatus | { refused: string } | null = null;
  for await (const line of csvRecords<keyof Line>(path, { required, optional }, progress)) {
    result.read += 1;
    last = statusFrom(line, source);
    if ("refused" in last) {
      refuse(result, last.refused);
      continue;
    }
    const other = byId.get(line.station_id);
    const newer = other === undefined || other.updated <= last.updated ? last : other;
    byId.set(line.station_id, { ...newer, lines: (other?.lines ?? 0) + 1 });
  }
  // The time is usually the last column: when it is cut off, it is no valid time or the line lacks fields.
  if (last !== null && "refused" in last && !(await endsWithLine(path)))
    throw wrongFile("is cut off in its last line");
  if (byId.size === 0) throw wrongFile("holds no readable status");
  result.statuses = [...byId.values()];
  return result;
}

function statusFrom(line: Line, source: string): SourceStatus | { refused: string } {
  if (line.station_id === "") return { refused: "no-station-id" };
  const status = statuses.find((word) => word === line.status.toLowerCase());
  if (status === undefined) return { refused: "bad-status" };
  const [fuelsNow, fuelsNo] = [gradesFrom(line.fuels_now), gradesFrom(line.fuels_no)];
  if (fuelsNow === null || fuelsNo === null || fuelsNow.some((grade) => fuelsNo.includes(grade)))
    return { refused: "bad-grade" };
  const updated = parseTime(line.updated);
  if (updated === null) return { refused: "bad-time" };
  return {
    ids: [line.station_id, `${source}-${line.station_id}`],
    point: pointFrom(line.lat, line.lon),
    status,
    fuelsNow,
    fuelsNo,
    updated,
    lines: 1,
  };
}

/** `92, 95;дизель` → grades in their own order; null when one is unknown. */
function gradesFrom(text: string): Grade[] | null {
  const found = text
    .split(/[,;|\s]+/)
    .filter((word) => word !== "")
    .map(parseGrade);
  return found.includes(undefined) ? null : grades.filter((grade) => found.includes(grade));
}
