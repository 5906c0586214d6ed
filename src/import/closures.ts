import { formatTime } from "#src/domain/time.ts";
import type { ReadProgress } from "#src/import/read-text.ts";
import type { Source } from "#src/import/source.ts";
import { type FoundFiles, recordsIn } from "#src/import/source-files.ts";
import { createTimeReader } from "#src/import/source-times.ts";
import type { Note } from "#src/import/source-fuels.ts";
import { isMet, pathOf, rowsOf, textFrom } from "#src/import/source-values.ts";

/** The closure of a station by its record and its own id, as it is stored; null if it is closed for good. */
export type ClosureReader = (record: unknown, own: string, note?: Note) => string | null;

type Told = Map<string, { rows: number; place: string; entries: unknown[] }>;

/**
 * Reads what a source says of stations that are closed for now (decisions 14.57), at the moment `now` (ms). Of several
 * closures that are not over the one that begins first counts. A time that cannot be read is unknown, and a closure
 * that ends before it begins is none; `note` is told of both. `told` gets those of a second file.
 */
export async function createClosureReader(
  source: Source,
  files: FoundFiles,
  now: number,
  progress: ReadProgress,
  told: Told = new Map(),
): Promise<ClosureReader> {
  const { closed, timezone = "UTC" } = source;
  if (closed === undefined) return () => "";
  const { rows, file, station, when, since, until, final } = closed;
  const timeOf = createTimeReader(timezone);
  if (file !== undefined && files.has(file))
    for await (const some of recordsIn(source, file, files, progress))
      for (const { place, value } of some) {
        const own = textFrom(value, station!);
        const of = told.get(own) ?? { rows: 0, place, entries: [] };
        told.set(own, of);
        of.rows = of.entries.push(value);
      }
  const entriesOf = (record: unknown, own: string): unknown[] =>
    file !== undefined ? (told.get(own)?.entries ?? []) : rowsOf(record, rows, "");
  const read = (entry: unknown, note?: Note) => {
    const [begin, end] = [since, until].map((from) => (from ? textFrom(entry, from) : ""));
    const isFinal = final !== undefined && isMet(entry, final);
    const isMeant = when === undefined ? isFinal || begin + end! !== "" : isMet(entry, when);
    const [from, to] = [timeOf(begin!, "start"), isFinal ? null : timeOf(end!, "end")];
    const isReversed = to !== null && from !== null && to < from;
    if (!isMeant || (to !== null && to <= now && !isReversed)) return [];
    if (begin && from === null) note?.("unclear-closure", pathOf(since!), begin);
    if (isReversed || (end && to === null && !isFinal))
      note?.("unclear-closure", pathOf(until!), end!);
    return isReversed ? [] : [{ from, to, isFinal }];
  };
  const textOf = (ms: number | null): string => (ms === null ? "" : formatTime(ms));
  return (record, own, note) => {
    const found = entriesOf(record, own).flatMap((entry) => read(entry, note));
    if (found.some(({ from, isFinal }) => isFinal && (from ?? 0) <= now)) return null;
    const [first] = found.sort((a, b) => (a.from ?? 0) - (b.from ?? 0));
    return first === undefined ? "" : `${textOf(first.from)}/${textOf(first.to)}`;
  };
}
