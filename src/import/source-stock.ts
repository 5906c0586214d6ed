import type { Point } from "#src/domain/geo.ts";
import { grades } from "#src/domain/vocabulary.ts";
import { endsWithLine } from "#src/import/csv-lines.ts";
import { holdsNone, refuse } from "#src/import/file-import.ts";
import { advice, wrongFile } from "#src/import/read-text.ts";
import type { SourceStatus, StatusesRead } from "#src/import/read-statuses.ts";
import { createGradeOf, fuelsIn, type GradeOf } from "#src/import/source-fuels.ts";
import { type FoundFiles, recordsIn } from "#src/import/source-files.ts";
import { pointOf, type ReadOptions } from "#src/import/source-stations.ts";
import { pathOf, rowsOf, textFrom } from "#src/import/source-values.ts";
import type { Source } from "#src/import/source.ts";
import { createStockOutReader, type StockOut } from "#src/import/stock-outs.ts";

/** The newest stock-out of a fuel at a station, and the number of its lines. */
type Out = Pick<StockOut, "state"> & { since: number; lines: number };

interface Station {
  point: Point | null;
  /** Fuels that its record says it sells; null where the source does not say. */
  sold: ReadonlySet<string> | null;
  outs: Map<string, Out>;
  /** Where its first stock-out stands. */
  place: string;
}

type StockOptions = ReadOptions & { notSoldMs?: number };

/**
 * Statuses from the stock-outs of a source. A fuel without one is there; where the source says what is sold, only if it
 * is sold. `no` when every fuel that the station sells is out, else `low`. Throws wrong-file faults like the stations.
 */
export async function readSourceStock(
  source: Source,
  files: FoundFiles,
  options: StockOptions,
): Promise<StatusesRead> {
  const { rows } = options;
  const result: StatusesRead = { read: 0, statuses: [], refused: 0, reasons: {}, rows };
  const gradeOf = createGradeOf(source, new Map());
  const stations = await readStations(
    source,
    files,
    options,
    createAdder(source, options, gradeOf, result),
  );
  if (result.read === 0 && source.stock!.file !== undefined) throw holdsNone("stock-out", result);
  const named = Object.keys(source.grades!).filter((fuel) => gradeOf(fuel) !== "none");
  for (const [own, { point, sold, outs, place }] of stations) {
    const old = [...outs.values()].filter(({ state }) => state === "unsold");
    refuse(result, "not-sold-here", linesOf(old), { place, id: own });
    const out = [...outs].filter(([, { state }]) => state === "out");
    if (out.length === 0) continue;
    const there = [...(sold ?? named)].filter((fuel) => !outs.has(fuel));
    const gone = new Set(out.map(([fuel]) => gradeOf(fuel)));
    for (const fuel of there) gone.delete(gradeOf(fuel));
    result.statuses.push({
      own,
      point,
      status: there.some((fuel) => gradeOf(fuel) !== "none") ? "low" : "no",
      fuelsNow: [],
      fuelsNo: grades.filter((grade) => gone.has(grade)),
      updated: Math.max(...out.map(([, { since }]) => since)),
      ...{ lines: linesOf(out.map(([, one]) => one)), place, written: "" },
    } satisfies SourceStatus);
  }
  return result;
}

const linesOf = (outs: readonly Out[]): number => outs.reduce((sum, { lines }) => sum + lines, 0);

type Adder = (to: Map<string, Station>, own: string, row: unknown, place: string) => void;

/** Adds an open stock-out of one of our grades to its station, and refuses any other. */
function createAdder(
  source: Source,
  { now, notSoldMs }: StockOptions,
  gradeOf: GradeOf,
  result: StatusesRead,
): Adder {
  const read = createStockOutReader(source, now, notSoldMs);
  return (stations, own, row, place) => {
    result.read += 1;
    const { fuel, since, state, times } = read(row);
    const grade = gradeOf(fuel);
    const about = { place, id: own };
    const strange = grade === undefined ? "unknown-fuel" : grade === "none" ? "other-fuel" : null;
    if (strange !== null)
      return refuse(result, strange, 1, { ...about, field: "fuel", value: fuel });
    if (since === null || state === "bad-time" || state === "over")
      return refuse(result, state, 1, { ...about, field: "since", value: times });
    const none: Station = { point: null, sold: null, outs: new Map(), place };
    const station = stations.get(own) ?? none;
    const known = station.outs.get(fuel);
    const newest = known === undefined || since > known.since ? { since, state } : known;
    station.outs.set(fuel, { ...newest, lines: (known?.lines ?? 0) + 1 });
    stations.set(own, station);
  };
}

/** The stations with stock-outs, by their own ids. */
async function readStations(
  source: Source,
  files: FoundFiles,
  { progress }: StockOptions,
  add: Adder,
): Promise<Map<string, Station>> {
  const { fields, fuels, stock } = source;
  const stations = new Map<string, Station>();
  const places = new Map<string, Point | null>();
  const { name } = source.files[0]!;
  const list = stock!.rows;
  if (files.has(name))
    for await (const some of recordsIn(source, name, files, progress))
      for (const { place, value } of some) {
        const own = textFrom(value, fields!.id);
        places.set(own, pointOf(value, fields!));
        if (list === undefined) continue;
        for (const row of rowsOf(value, list, pathOf(stock!.fuel))) add(stations, own, row, place);
        const station = stations.get(own);
        if (station !== undefined && fuels !== undefined && fuels.absent !== "unknown")
          station.sold = new Set(fuelsIn(value, fuels).keys());
      }
  const last = { place: "", own: "" };
  const { file, station = "", fuel } = stock!;
  if (file !== undefined)
    for await (const some of recordsIn(source, file, files, progress))
      for (const { place, value } of some) {
        Object.assign(last, { place, own: textFrom(value, station) });
        for (const row of rowsOf(value, undefined, pathOf(fuel)))
          add(stations, last.own, row, place);
      }
  // Where the station is the last column, a shortened id would name no station or another one.
  const { path = "", spec } = files.get(file ?? "") ?? {};
  if (spec?.format === "csv" && !places.has(last.own) && !(await endsWithLine(path, spec)))
    throw wrongFile("it ends in the middle", advice.cut, Number(/\d+/.exec(last.place)?.[0] ?? 0));
  for (const [own, one] of stations) one.point = places.get(own) ?? null;
  return stations;
}
