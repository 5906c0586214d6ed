import type { Point } from "#src/domain/geo.ts";
import { collect, type Collected, type Refused } from "#src/import/file-import.ts";
import { type ClosureReader, createClosureReader } from "#src/import/closures.ts";
import { firmName } from "#src/import/brand-key.ts";
import { fromGeojson, fromOverpass, round, wrongPosition } from "#src/import/osm-object.ts";
import { idOf } from "#src/stations/own-ids.ts";
import { hoursText } from "#src/import/osm-sold.ts";
import {
  addressOf,
  brandFrom,
  type ImportedStation,
  stationFrom,
  text,
} from "#src/import/osm-station.ts";
import type { FileRecord, FileSpec } from "#src/import/records.ts";
import type { RefusedRows } from "#src/import/refusals.ts";
import type { ReadProgress } from "#src/import/read-text.ts";
import type { Condition, Source, SourceFields, Value } from "#src/import/source.ts";
import { type FoundFiles, recordsIn } from "#src/import/source-files.ts";
import {
  addFuel,
  createGradeOf,
  type Fuels,
  fuelsIn,
  type GradeOf,
  noFuels,
  type Note,
  readFuelFile,
  salesOf,
} from "#src/import/source-fuels.ts";
import { isMet, numberFrom, pathOf, textFrom, valueAt } from "#src/import/source-values.ts";
import { createOutReader } from "#src/import/stock-outs.ts";

/** Stations of a source, and the names of fuels that its description does not know, with their numbers. */
export interface StationsRead extends Collected<ImportedStation> {
  unknownFuels: ReadonlyMap<string, number>;
  /** The source's ids of all rows, also of those that are left out. */
  ids: ReadonlySet<string>;
  /** "prices: 0 of 3 rows are about a station of this file"; null without a second file. */
  secondFile: string | null;
}

export interface ReadOptions {
  /** The name under which rows are stored; ids begin with it. */
  label: string;
  /** The moment (ms) that the ages of stock-outs are counted from. */
  now: number;
  progress: ReadProgress;
  rows?: RefusedRows | undefined;
}

/**
 * The stations in the files of a source. Throws a wrong-file fault for a file that is broken, cut
 * off or of another kind, and for one without a single station.
 */
export async function readSourceStations(
  source: Source,
  files: FoundFiles,
  { label, now, progress, rows }: ReadOptions,
): Promise<StationsRead> {
  const unknownFuels = new Map<string, number>();
  const gradeOf = createGradeOf(source, unknownFuels);
  const fuels = await readFuelFile(source, files, gradeOf, { progress, rows });
  const closures: Parameters<typeof createClosureReader>[4] = new Map();
  const closureOf = await createClosureReader(source, files, now, progress, closures);
  const ids = new Set<string>();
  const { name } = source.files[0]!;
  const { spec } = files.get(name)!;
  const stationOf =
    source.as === "osm"
      ? osmReader(spec, label)
      : fieldsReader(source, { label, now, rows, ids }, gradeOf, fuels, closureOf);
  const collected = await collect(
    recordsIn(source, name, files, progress),
    "filling station",
    ({ place, value, refused }: FileRecord): ImportedStation | Refused | null => {
      if (refused !== undefined) return { refused };
      const station = stationOf(value, place);
      if (station !== null && !("refused" in station)) station.place = place;
      return station;
    },
    { rows, placeOf: ({ place }) => place },
  );
  const second = { [source.fuels?.file ?? ""]: fuels, [source.closed?.file ?? ""]: closures };
  const words = Object.entries(second).flatMap(([file, told]) => {
    let [all, met] = [0, 0];
    for (const [id, { rows: n, place }] of told ?? []) {
      all += n;
      if (ids.has(id)) met += n;
      else rows?.add({ place, id, field: "", value: "", reason: "unknown-station" }, n);
    }
    return all === 0 ? [] : `${file}: ${met} of ${all} rows are about a station of this file`;
  });
  return { ...collected, unknownFuels, ids, secondFile: words.join("; ") || null };
}

/** The station in a record; null if the record only adds to a station that was there before. */
type StationReader = (
  value: FileRecord["value"],
  place: string,
) => ImportedStation | Refused | null;

function osmReader({ format }: FileSpec, label: string): StationReader {
  const read = format === "geojson" || format === "geojsonseq" ? fromGeojson : fromOverpass;
  return (value) => {
    const object = read(value, label);
    return "refused" in object ? object : stationFrom(object);
  };
}

/** A station that comes once for each fuel is one station, which each of its rows adds a fuel to. */
function fieldsReader(
  source: Source,
  { label, now, rows, ids }: Pick<ReadOptions, "label" | "now" | "rows"> & { ids: Set<string> },
  gradeOf: GradeOf,
  fuelsByStation: ReadonlyMap<string, Fuels> | null,
  closureOf: ClosureReader,
): StationReader {
  const { fields, fuels, leave_out: unwanted = [] } = source;
  const outOfStock = createOutReader(source, now);
  const before = new Map<string, { station: ImportedStation; fuels: Fuels }>();
  return (value, place) => {
    const own = textFrom(value, fields!.id);
    ids.add(own);
    const reason = unwanted.find((condition) => isMet(value, condition));
    if (reason !== undefined) return leftOut(value, source, reason);
    const note: Note = (reason, field, text) =>
      rows?.add({ place, id: own, field, value: text, reason }, 1);
    const closed = closureOf(value, own, note);
    if (closed === null) return { refused: "closed", about: { id: own, field: "closed" } };
    const known = before.get(own);
    const station = known?.station ?? stationFromFields(source, label, own, value, note);
    if ("refused" in station) return station;
    if (closed !== "") station.closed = closed;
    if (fuels === undefined) return station;
    const sold = known?.fuels ?? fuelsByStation?.get(own) ?? noFuels();
    for (const [fuel, one] of fuelsIn(value, fuels, note))
      addFuel(sold, gradeOf(fuel), one ?? false);
    // A fuel that is out is sold here.
    for (const fuel of outOfStock(value)) addFuel(sold, gradeOf(fuel));
    Object.assign(station, salesOf(sold, fuels.absent));
    if (known !== undefined) return null;
    if (fuels.each) before.set(own, { station, fuels: sold });
    return station;
  };
}

const leftOut = (value: unknown, { fields }: Source, { value: from }: Condition): Refused => ({
  refused: "left-out",
  about: {
    id: textFrom(value, fields!.id),
    field: pathOf(from),
    value: textFrom(value, from),
  },
});

/** The station of a row of a table, with the source's `own` id. */
function stationFromFields(
  source: Source,
  label: string,
  own: string,
  value: Record<string, unknown>,
  note: Note,
): ImportedStation | Refused {
  const { fields: described, country } = source;
  const fields = described!;
  const isList = (from: Value, written: string): boolean =>
    written.includes(";") && Array.isArray(valueAt(value, pathOf(from)));
  const read = (from: Value | undefined): string => {
    const written = from === undefined ? "" : textFrom(value, from);
    // Hours are rules, of which a list is as good as one text.
    if (from !== fields.opening_hours && isList(from!, written))
      note("several-values", pathOf(from!), written);
    return written;
  };
  if (own === "" || isList(fields.id, own))
    return { refused: "no-id", about: { field: "id", value: own } };
  const point = pointOf(value, fields);
  if (point === null) {
    const position = `${textFrom(value, fields.lat)} ${textFrom(value, fields.lon)}`.trim();
    const [lat, lon] = [numberFrom(value, fields.lat), numberFrom(value, fields.lon)];
    const isWrong = lat === null || lon === null ? null : wrongPosition({ lat, lon });
    const refused = position === "" ? "no-position" : (isWrong ?? "bad-position");
    return { refused, about: { id: own, field: "lat, lon", value: position } };
  }
  const { address, street, number, city } = fields;
  return {
    ...{ id: idOf(label, own), own, ...point },
    ...{ brand: brandFrom(read(fields.brand), point, country), name: text(read(fields.name), 120) },
    operator: firmName(text(read(fields.operator), 120)),
    ...addressOf({
      full: read(address),
      road: read(street),
      number: read(number),
      city: read(city),
    }),
    ...{ sells: "unsaid", grades_sold: null, opening_hours: hoursText(read(fields.opening_hours)) },
  };
}

/** The position of a row; null for none on the globe, and for 0, 0, which stands for an unknown one. */
export function pointOf(value: unknown, fields: Pick<SourceFields, "lat" | "lon">): Point | null {
  const [lat, lon] = [numberFrom(value, fields.lat), numberFrom(value, fields.lon)];
  if (lat === null || lon === null || wrongPosition({ lat, lon }) !== null) return null;
  return { lat: round(lat), lon: round(lon) };
}
