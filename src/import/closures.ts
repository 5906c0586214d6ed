import { formatTime } from "#src/domain/time.ts";
import type { ReadProgress } from "#src/import/read-text.ts";
import type { Source } from "#src/import/source.ts";
import { type FoundFiles, recordsIn } from "#src/import/source-files.ts";
import { createTimeReader } from "#src/import/source-times.ts";
import { isMet, rowsOf, textFrom } from "#src/import/source-values.ts";

/** The closure of a station by its record and its own id, as it is stored; null if it is closed for good. */
export type ClosureReader = (record: unknown, own: string) => string | null;

/**
 * Reads what a source says of stations that are closed for now (decisions 14.57), at the moment `now` (ms). Of several
 * closures that are not over the one that begins first counts. A time that cannot be read is unknown.
 */
export async function createClosureReader(
  source: Source,
  files: FoundFiles,
  now: number,
  progress: ReadProgress,
): Promise<ClosureReader> {
  const { closed, timezone = "UTC" } = source;
  if (closed === undefined) return () => "";
  const { rows, file, station, when, since, until, final } = closed;
  const timeOf = createTimeReader(timezone);
  const told = new Map<string, unknown[]>();
  if (file !== undefined && files.has(file))
    for await (const some of recordsIn(source, file, files, progress))
      for (const { value } of some) {
        const own = textFrom(value, station!);
        told.set(own, [...(told.get(own) ?? []), value]);
      }
  const entriesOf = (record: unknown, own: string): unknown[] =>
    file !== undefined ? (told.get(own) ?? []) : rowsOf(record, rows, "");
  const read = (entry: unknown) => {
    const [begin, end] = [since, until].map((from) => (from ? textFrom(entry, from) : ""));
    const isFinal = final !== undefined && isMet(entry, final);
    const isMeant = when === undefined ? isFinal || begin + end! !== "" : isMet(entry, when);
    const [from, to] = [timeOf(begin!, "start"), isFinal ? null : timeOf(end!, "end")];
    return isMeant && (to === null || to > now) ? [{ from, to, isFinal }] : [];
  };
  const textOf = (ms: number | null): string => (ms === null ? "" : formatTime(ms));
  return (record, own) => {
    const found = entriesOf(record, own).flatMap(read);
    if (found.some(({ from, isFinal }) => isFinal && (from ?? 0) <= now)) return null;
    const [first] = found.sort((a, b) => (a.from ?? 0) - (b.from ?? 0));
    return first === undefined ? "" : `${textOf(first.from)}/${textOf(first.to)}`;
  };
}
