import type { Point } from "#src/domain/geo.ts";
import { type Grade, grades, parseGrade, type Status, statuses } from "#src/domain/vocabulary.ts";
import { endsWithLine } from "#src/import/csv-lines.ts";
import { csvTable } from "#src/import/csv-table.ts";
import { type Collected, holdsNone, refuse, type Refused } from "#src/import/file-import.ts";
import type { RefusedRows } from "#src/import/refusals.ts";
import { pointOf } from "#src/import/source-stations.ts";
import { createTimeReader } from "#src/import/source-times.ts";
import { advice, wrongFile, type ReadProgress } from "#src/import/read-text.ts";
export const statusFormats = ["csv", "fr-ruptures"] as const;
export type StatusFormat = (typeof statusFormats)[number];

/** The status that a file reports for one of its stations. */
export interface SourceStatus {
  /** The station's id as the file writes it: the source's own, or ours. */
  own: string;
  /** Its location in the file, to find it when no id matches. */
  point: Point | null;
  status: Status;
  fuelsNow: Grade[];
  fuelsNo: Grade[];
  /** The source's time, ms. */
  updated: number;
  /** Lines of the file with this status. */
  lines: number;
  /** One of them, and its time as it is written there; "" where a station has several. */
  place: string;
  written: string;
}

/** `read`: lines of all `statuses`, and refused lines. */
export interface StatusesRead extends Omit<Collected<never>, "found" | "repeated"> {
  statuses: SourceStatus[];
}

const required = ["station_id", "status", "fuels_now", "fuels_no", "updated"] as const;
const optional = ["lat", "lon"] as const;
type Line = Record<(typeof required)[number], string> &
  Partial<Record<(typeof optional)[number], string>>;

/**
 * Statuses of the plain CSV (docs/imports.md). The newest line of a station counts. Throws a wrong-file fault for
 * another table, for a cut-off last line, and for a table without a single good line.
 */
export async function readStatusCsv(
  path: string,
  progress: ReadProgress,
  rows?: RefusedRows,
): Promise<StatusesRead> {
  const result: StatusesRead = { read: 0, statuses: [], refused: 0, reasons: {}, rows };
  const byId = new Map<string, SourceStatus>();
  let last: SourceStatus | Refused | null = null;
  let lastLine = 0;
  const records = csvTable(path, undefined, progress, required, optional);
  for await (const { line: number, value } of records) {
    const line = value as Line;
    result.read += 1;
    lastLine = number;
    const place = `line ${number}`;
    last = statusFrom(line, place);
    if ("refused" in last) {
      refuse(result, last.refused, 1, { place, id: line.station_id, ...last.about });
      continue;
    }
    const other = byId.get(line.station_id);
    const newer = other === undefined || other.updated <= last.updated ? last : other;
    byId.set(line.station_id, { ...newer, lines: (other?.lines ?? 0) + 1 });
  }
  // The time is usually the last column: a cut-off time is invalid, or the line lacks fields.
  if (last !== null && "refused" in last && !(await endsWithLine(path)))
    throw wrongFile(`it ends in the middle (${last.refused})`, advice.cut, lastLine);
  if (byId.size === 0) throw holdsNone("readable status", result);
  result.statuses = [...byId.values()];
  return result;
}

const timeOf = createTimeReader("UTC");

function statusFrom(line: Line, place: string): SourceStatus | Refused {
  const bad = (refused: string, field: keyof Line): Refused => {
    return { refused, about: { field, value: line[field] ?? "" } };
  };
  if (line.station_id === "") return bad("no-station-id", "station_id");
  const status = statuses.find((word) => word === line.status.toLowerCase());
  if (status === undefined) return bad("bad-status", "status");
  const [fuelsNow, fuelsNo] = [gradesFrom(line.fuels_now), gradesFrom(line.fuels_no)];
  if (fuelsNow === null) return bad("bad-grade", "fuels_now");
  if (fuelsNo === null || fuelsNow.some((grade) => fuelsNo.includes(grade)))
    return bad("bad-grade", "fuels_no");
  const updated = timeOf(line.updated);
  if (updated === null) return bad("bad-time", "updated");
  return {
    own: line.station_id,
    point: pointOf(line, { lat: "lat", lon: "lon" }),
    ...{ status, fuelsNow, fuelsNo, updated, lines: 1, place, written: line.updated },
  };
}

/** `92, АИ-95;дизель` → grades in their own order; null when one is unknown. */
function gradesFrom(text: string): Grade[] | null {
  const plain = usual.reduce((one, [from, to]) => one.replace(from, to), text.toLowerCase());
  const found = plain
    .split(/[,;|/\s]+/)
    .filter((word) => word !== "")
    .map(parseGrade);
  return found.includes(undefined) ? null : grades.filter((grade) => found.includes(grade));
}

/** Usual spellings of grades, in small letters of any alphabet: "Бензин АИ-95-К5", "A95", "95 E10", "G-95", "Diesel B7". */
const usual: readonly (readonly [RegExp, string])[] = [
  [/di(es|z)el|диз(ельное|\.)?[ -]?топливо|дизель|солярка|gas[oó](il|leo|lio)|gazole/gu, "дт"],
  [
    /(?<![\p{L}\p{N}])(([аa][иіi]?|g|n|u|ron|pb|sp|(euro)?super|(евро)?супер|евро|euro|premium|премиум|ulp|unleaded|petrol|ben[zs][iy]na?|plus|v-power|g-drive|ultimate|экто|pulsar|бензин|gasolina|nafta|natural|octane)[\s.-]*)+(?=(92|95|98|100)(?!\d)|дт)/gu,
    "",
  ],
  [
    /(?<=92|95|98|100|дт|dt)([\s-]*(([кk]|евро|euro)[\s-]?[2-6]|евро|euro|e5|e10|b7|b10|octane|plus|аи|зимнее|летнее|[лзаaей](?!\p{L}))|[+#])+(?![\p{L}\p{N}])/gu,
    "",
  ],
  [/(?<![\p{L}\p{N}])e(5|10)(?![\p{L}\p{N}])/gu, "95"],
  [/(?<![\p{L}\p{N}])b(7|10)(?![\p{L}\p{N}])/gu, "дт"],
];
