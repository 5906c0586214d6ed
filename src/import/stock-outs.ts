import { dayMs } from "#src/domain/units.ts";
import { createTimeReader } from "#src/import/source-times.ts";
import { isMet, pathOf, rowsOf, textFrom } from "#src/import/source-values.ts";
import type { Source } from "#src/import/source.ts";

/** One stock-out of a fuel, as a source states it. */
export interface StockOut {
  fuel: string;
  /** ms; before all times for one that never ends, null for what is no time. */
  since: number | null;
  /** `over`: the fuel is there again; `unsold`: so old, or final, that the station does not sell the fuel. */
  state: "out" | "unsold" | "over" | "bad-time";
  /** The times as they are written. */
  times: string;
}

/**
 * Reads the rows of a source's stock-outs at the moment `now` (ms). One of the age `notSoldMs` means that the fuel is
 * not sold; by default what the description says.
 */
export function createStockOutReader(
  { stock, timezone = "UTC" }: Source,
  now: number,
  notSoldMs = (stock?.not_sold_days ?? 30) * dayMs,
): (row: unknown) => StockOut {
  const timeOf = createTimeReader(timezone);
  return (row) => {
    const { fuel, since: from, until, final } = stock!;
    const [begin, end] = [textFrom(row, from), until === undefined ? "" : textFrom(row, until)];
    const isFinal = final !== undefined && isMet(row, final);
    const since = isFinal ? Number.NEGATIVE_INFINITY : timeOf(begin);
    const ended = end === "" ? Number.POSITIVE_INFINITY : timeOf(end);
    const stateNow = (): StockOut["state"] => {
      if (since === null || ended === null) return "bad-time";
      if (ended <= now) return "over";
      return since <= now - notSoldMs ? "unsold" : "out";
    };
    return { fuel: textFrom(row, fuel), since, state: stateNow(), times: `${begin} ${end}`.trim() };
  };
}

/** Reads the names of the fuels that a station's own record says are out; a fuel that is out is sold there. */
export function createOutReader(source: Source, now: number): (record: unknown) => string[] {
  const rows = source.stock?.rows;
  if (rows === undefined) return () => [];
  const read = createStockOutReader(source, now);
  return (record) =>
    rowsOf(record, rows, pathOf(source.stock!.fuel))
      .map(read)
      .filter(({ state }) => state === "out")
      .map(({ fuel }) => fuel);
}
