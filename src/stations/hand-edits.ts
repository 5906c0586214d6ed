import type { HandSet } from "#src/contract/console.ts";
import type { Point } from "#src/domain/geo.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { rows, type Statements, type Tx } from "#src/infrastructure/db.ts";

/** A station's row in `station_edits`: the imports' values of the fields that an operator has set by hand. */
export interface HandEdits {
  station_id: string;
  file_name: string | null;
  file_brand: string | null;
  file_addr: string | null;
  file_grades_sold: string | null;
  file_opening_hours: string | null;
  file_lat: number | null;
  file_lon: number | null;
  in_service: boolean | null;
  file_removed: boolean;
}

/** The fields that are texts. */
export const textFields = ["name", "brand", "addr", "grades_sold", "opening_hours"] as const;
/** The fields that can be set by hand, and go back to the file's value. */
export const handFields = [...textFields, "position"] as const;
export type HandField = (typeof handFields)[number];

/** The values of these fields; a position is one value. */
export interface Values extends Record<(typeof textFields)[number], string> {
  position: Point;
}

export const valuesOf = ({
  name,
  brand,
  addr,
  grades_sold,
  opening_hours,
  lat,
  lon,
}: StationRow): Values => ({
  ...{ name, brand, addr, grades_sold, opening_hours },
  position: { lat, lon },
});

/** A station with these values in place of its own. */
export function withValues<Row extends StationRow>(
  station: Row,
  { position, ...texts }: Partial<Values>,
): Row {
  return { ...station, ...texts, ...position };
}

export const isSameValue = (
  a: string | Point | undefined,
  b: string | Point | undefined,
): boolean =>
  typeof a === "object" && typeof b === "object" ? a.lat === b.lat && a.lon === b.lon : a === b;

/** The edits of a station without any. */
export const noEdits = (stationId: string): HandEdits => ({
  station_id: stationId,
  ...{ file_name: null, file_brand: null, file_addr: null, file_lat: null, file_lon: null },
  ...{ file_grades_sold: null, file_opening_hours: null },
  ...{ in_service: null, file_removed: false },
});

/** The edits of these stations. Lock the stations before, or the edits may change meanwhile. */
export async function readEdits(
  db: Statements,
  stationIds: readonly string[],
): Promise<Map<string, HandEdits>> {
  const sql = "select * from station_edits where station_id = any(?::text[])";
  const found = await rows<HandEdits>(db, sql, [stationIds]);
  return new Map(found.map((edits) => [edits.station_id, edits]));
}

/** Stores the edits of a station; deletes its row when there are none. */
export async function saveEdits(tx: Tx, { station_id, ...columns }: HandEdits): Promise<void> {
  const { file_removed: removed, ...values } = columns;
  if (Object.values(values).every((value) => value === null)) {
    await tx("station_edits").where({ station_id }).delete();
    return;
  }
  const row = { ...values, file_removed: values.in_service !== null && removed };
  await tx("station_edits")
    .insert({ station_id, ...row })
    .onConflict("station_id")
    .merge(row);
}

/** The edits in the form for people and pages. */
export const handSetOf = ({
  file_name,
  file_brand,
  file_addr,
  file_grades_sold,
  file_opening_hours,
  file_lat,
  file_lon,
  in_service,
}: HandEdits): HandSet => ({
  ...{ name: file_name, brand: file_brand, addr: file_addr, in_service },
  ...{ grades_sold: file_grades_sold, opening_hours: file_opening_hours },
  position: file_lat === null || file_lon === null ? null : { lat: file_lat, lon: file_lon },
});

/** The imports' value of a field; null if it is not set by hand. */
export const fileValue = (edits: HandEdits, field: HandField): string | Point | null =>
  handSetOf(edits)[field];

export function setFile(edits: HandEdits, field: HandField, value: string | Point | null): void {
  if (field !== "position") Object.assign(edits, { [`file_${field}`]: value });
  else {
    const { lat, lon } = (value ?? { lat: null, lon: null }) as { lat: unknown; lon: unknown };
    Object.assign(edits, { file_lat: lat, file_lon: lon });
  }
}

/**
 * Applies the edits to a station of a file: `station` is to be served, `edits` has the file's values instead, and
 * `left` is the number of the file's values that are not applied (decisions 14.5).
 */
export function overrule(
  file: StationRow,
  served: StationRow,
  edits: HandEdits,
): { station: StationRow; edits: HandEdits; left: number } {
  const station = { ...file };
  // A station that was kept in service by hand is in a file again, so from now on the files decide.
  const inService = edits.in_service === true ? null : edits.in_service;
  const next: HandEdits = { ...edits, in_service: inService, file_removed: false };
  let left = inService === false ? 1 : 0;
  for (const field of textFields) {
    if (edits[`file_${field}`] === null) continue;
    next[`file_${field}`] = file[field];
    station[field] = served[field];
    if (file[field] !== served[field]) left += 1;
  }
  if (edits.file_lat !== null) {
    Object.assign(next, { file_lat: file.lat, file_lon: file.lon });
    Object.assign(station, { lat: served.lat, lon: served.lon });
    if (file.lat !== served.lat || file.lon !== served.lon) left += 1;
  }
  return { station, edits: next, left };
}
