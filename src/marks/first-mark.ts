import type { DuplicateOf } from "#src/contract/present.ts";
import type { Admitted, IncomingMark } from "#src/domain/admit.ts";
import type { Statement } from "#src/domain/state.ts";
import { dayMs } from "#src/domain/units.ts";
import { rows, type Statements } from "#src/infrastructure/db.ts";
import { dayOfId, idsBetween, markColumns, type MarkRow, msOf, toMark } from "#src/marks/marks.ts";

/** The fields of a mark that are compared. */
type Said = Statement &
  Pick<
    IncomingMark,
    "stationId" | "reporter" | "status" | "lat" | "lon" | "accM" | "comment" | "express"
  >;

/** The mark that first had an `external_id`. Times are ms. */
export interface FirstMark extends Said {
  id: number;
  receivedAt: number;
  effectiveAt: number;
  /** Its position and comment are cleared, if it had some. */
  isCleared: boolean;
}

/**
 * Compares the values that would be stored: ignored fields, aliases and the order of grades do not count, nor do values
 * of the first mark that were cleared since.
 */
export function duplicateOf(mark: IncomingMark, first: FirstMark): DuplicateOf {
  const { id, stationId, status, receivedAt, effectiveAt } = first;
  const at = Math.min(mark.observedAt ?? receivedAt, receivedAt);
  return {
    report_id: String(id),
    station_id: stationId,
    status,
    same_body: textOf(mark, at, first) === textOf(first, effectiveAt, first),
  };
}

function textOf(said: Said, at: number, { isCleared }: FirstMark): string {
  const { stationId, reporter, status, lat, lon, accM, comment, express } = said;
  const personal = isCleared ? [] : [lat, lon, accM, comment];
  const { fuels, fuelsNo, queue, prices, limitL, noCash, fuelCardsOnly } = said;
  const details = [
    [...(fuels ?? [])].sort(),
    [...(fuelsNo ?? [])].sort(),
    queue ?? null,
    Object.entries(prices ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)),
    limitL === undefined ? "" : limitL,
    noCash ?? null,
    fuelCardsOnly ?? null,
  ];
  return JSON.stringify([...[stationId, reporter, status, ...personal, express, at], ...details]);
}

/** Makes a mark of this transaction, or of a dry run, the first one. `now`: its time of receipt, ms. */
export const firstMarkOf = (
  { id, incomingMark, effectiveAt }: Admitted,
  now: number,
): FirstMark => ({ ...incomingMark, id, receivedAt: now, effectiveAt, isCleared: false });

interface Row extends MarkRow {
  reporter: string;
  lat: number | null;
  lon: number | null;
  acc_m: number | null;
  comment: string | null;
  express: boolean;
  received_at: number;
  cleared_day: number | null;
}

/** The existing ones of these marks, by id. */
export async function loadFirstMarks(
  db: Statements,
  ids: readonly number[],
): Promise<Map<number, FirstMark>> {
  if (ids.length === 0) return new Map();
  const found = await rows<Row>(
    db,
    `select ${markColumns}, (select encode(r.hash, 'hex') from reporters r where r.id = reporter_id) as reporter,
       lat, lon, acc_m, comment, express, ${msOf("received_at")} as received_at,
       (select max(day) - date '1970-01-01' from cleared_days) as cleared_day
     from marks where id = any(?::bigint[]) and ${idsBetween(ids)}`,
    [ids],
  );
  return new Map(found.map((row) => [row.id, firstMarkOfRow(row)]));
}

function firstMarkOfRow(row: Row): FirstMark {
  const { reporter, lat, lon, acc_m: accM, comment, express, station_id: stationId } = row;
  return {
    ...toMark(row),
    ...{ stationId, reporter, lat, lon, accM, comment, express },
    receivedAt: row.received_at,
    effectiveAt: row.at,
    isCleared: dayOfId(row.id) / dayMs <= (row.cleared_day ?? -1),
  };
}
