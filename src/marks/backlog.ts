import type { ConsoleFailedMark } from "#src/contract/console-review.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";

/** The open work of the marks workers, from the database, which alone knows it. */
export interface Backlog {
  unprocessed: number;
  /** Age of the oldest unprocessed mark, whole seconds; null without one. */
  oldestS: number | null;
  /** Marks set aside because they could not be processed. */
  failed: number;
  /** Stations that wait to be folded anew. */
  refolds: number;
}

export async function readBacklog(db: Db): Promise<Backlog> {
  const [backlog] = await rows<Backlog>(
    db,
    `select count(*) filter (where failed_at is null) as unprocessed,
       floor(extract(epoch from server_now() - min(received_at) filter (where failed_at is null)))::bigint as "oldestS",
       count(*) filter (where failed_at is not null) as failed,
       (select count(*) from station_status where refold) as refolds
     from marks where processed_at is null`,
  );
  return backlog!;
}

/** A mark that could not be processed and was set aside. */
type FailedMark = Pick<ConsoleFailedMark, "id" | "station_id" | "status" | "failure"> &
  Record<"received_at" | "failed_at", Date>;

export const listFailed = (db: Db, limit: number): Promise<FailedMark[]> =>
  rows(
    db,
    `select id, station_id, status, received_at, failed_at, failure from marks
     where processed_at is null and failed_at is not null order by id limit ?`,
    [limit],
  );

/** Stations that wait to be folded anew, those written longest ago first. */
export const listRefolds = (
  db: Db,
  limit: number,
): Promise<{ station_id: string; updated_at: Date }[]> =>
  rows(
    db,
    "select station_id, updated_at from station_status where refold order by updated_at, station_id limit ?",
    [limit],
  );
