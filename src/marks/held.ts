import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import type { Status } from "#src/domain/vocabulary.ts";
import { askRefold, lockStations } from "#src/infrastructure/locks.ts";

/** A mark that waits for the operator's word (decisions.md 4), with what helps to give it. */
export interface HeldMark {
  id: number;
  station_id: string;
  /** Name, brand and address of the station. */
  station: string;
  status: Status;
  received_at: Date;
  effective_at: Date;
  partner_id: number | null;
  key_id: number | null;
  /** The reporter's row: what `marks rollback --reporter` takes. */
  reporter_id: number;
  first_seen: Date | null;
  remote: boolean;
  comment: string | null;
}

/** SQL for what a station is called, of its row `s`: name, brand and address, as far as it has them. */
export const stationTitle =
  "concat_ws(', ', nullif(s.name, ''), nullif(nullif(s.brand, s.name), ''), nullif(s.addr, ''))";

/** Held marks, oldest first, at most `limit`, and how many there are in all. */
export async function listHeld(
  db: Db | Tx,
  { limit }: { limit: number },
): Promise<{ marks: HeldMark[]; total: number }> {
  const marks = await rows<HeldMark>(
    db,
    `select m.id, m.station_id, ${stationTitle} as station,
       m.status, m.received_at, m.effective_at, m.partner_id, m.key_id, m.reporter_id, r.first_seen, m.remote, m.comment
     from marks m left join stations s on s.id = m.station_id left join reporters r on r.id = m.reporter_id
     where m.review = 'held' order by m.id limit ?`,
    [limit],
  );
  return { marks, total: await countHeld(db) };
}

export const countHeld = async (db: Db | Tx): Promise<number> =>
  (await rows<{ count: number }>(db, "select count(*) from marks where review = 'held'"))[0]!.count;

/** What became of a reviewed mark. `held` is false when it was not held any more, and then nothing was done. */
export interface Reviewed {
  stationId: string;
  held: boolean;
  /** What the mark is now: `approved`, `rejected`, `withdrawn` … */
  review: string;
}

/**
 * Lets a held mark count from its own effective time: it waits for the marks worker as a new one does, and its
 * station is folded anew. Null when there is no such mark.
 */
export async function approveMark(tx: Tx, id: number): Promise<Reviewed | null> {
  const before = await find(tx, id);
  if (before === null) return null;
  await lockStations(tx, [before.stationId], "wait");
  const approved = await settle(tx, id, "review = 'approved', processed_at = null");
  if (approved !== null) await askRefold(tx, [approved.stationId]);
  return approved ?? find(tx, id);
}

/** Ends a held mark: it never counts, and nothing that is served changes. Null when there is no such mark. */
export const rejectMark = async (tx: Tx, id: number): Promise<Reviewed | null> =>
  (await settle(tx, id, "review = 'rejected'")) ?? find(tx, id);

const columns = 'station_id as "stationId", review';

async function settle(tx: Tx, id: number, change: string): Promise<Reviewed | null> {
  const sql = `update marks set ${change} where id = ? and review = 'held' returning ${columns}`;
  const [settled] = await rows<Omit<Reviewed, "held">>(tx, sql, [id]);
  return settled === undefined ? null : { ...settled, held: true };
}

async function find(tx: Tx, id: number): Promise<Reviewed | null> {
  const sql = `select ${columns} from marks where id = ?`;
  const [found] = await rows<Omit<Reviewed, "held">>(tx, sql, [id]);
  return found === undefined ? null : { ...found, held: false };
}
