import { inTransaction, rows, type Db, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { slices } from "#src/infrastructure/lists.ts";
import { lockStations } from "#src/infrastructure/locks.ts";
import { msOf } from "#src/marks/marks.ts";

/** Stations of a transaction: marks of these wait for its commit. */
const atOnce = 200;

/** A process that has not renewed its claim for so long has lost it. */
const claimedS = 30;
/** When nobody has followed for so long, the chances say nothing any more. */
const silentS = 120;

/** How far the chances follow, as all processes see it. */
export interface ChanceProgress {
  /** Every mark that was processed before it is in the chances, ms; null before the first. */
  followedAt: number | null;
  /** Marks heard and levels written since the database is there. */
  marks: number;
  levels: number;
}

/** The database's time, ms, if this process follows the marks from now on, or still: one at a time does. Else null. */
export async function claimChances(db: Db, holder: string): Promise<number | null> {
  const sql = `update chance_follower set holder = ?, renewed_at = server_now()
     where holder is null or holder = ?
       or abs(extract(epoch from server_now() - renewed_at)) > ${claimedS}
     returning ${msOf("renewed_at")} as now`;
  const [claimed] = await rows<{ now: number }>(db, sql, [holder, holder]);
  return claimed?.now ?? null;
}

/** Lets another process follow at once. */
export const releaseChances = async (db: Db, holder: string): Promise<void> =>
  void (await rows(db, "update chance_follower set holder = null where holder = ?", [holder]));

/** Notes that the holder has followed up to `at`, ms, with so many more marks and levels. */
export const noteFollowed = async (
  db: Db,
  holder: string,
  at: number,
  { marks, levels }: { marks: number; levels: number },
): Promise<void> =>
  void (await rows(
    db,
    `update chance_follower set followed_at = timestamptz 'epoch' + ?::bigint * interval '1 ms',
       marks = marks + ?, levels = levels + ? where holder = ?`,
    [at, marks, levels, holder],
  ));

export const readChanceProgress = async (db: Db): Promise<ChanceProgress> => {
  const sql = `select ${msOf("followed_at")} as "followedAt", marks, levels from chance_follower`;
  return (await rows<ChanceProgress>(db, sql))[0]!;
};

/**
 * Writes levels into the rows of their stations and stamps the change feed. Leaves out stations that somebody works at,
 * and writes nothing once another process holds the claim. Gives the stations that were written.
 */
export async function writeLevels(
  db: Db,
  holder: string,
  levels: ReadonlyMap<string, number | null>,
): Promise<string[]> {
  const written: string[] = [];
  for (const some of slices([...levels.keys()].sort(), atOnce))
    written.push(
      ...(await inTransaction(db, async (tx) => {
        // A first write of all stations may take longer than a claim lasts.
        const held =
          "update chance_follower set renewed_at = server_now() where holder = ? returning 1";
        if ((await rows(tx, held, [holder])).length === 0) return [];
        const ids = await lockStations(tx, some, "skip");
        await setLevels(
          tx,
          ids,
          ids.map((id) => levels.get(id)!),
        );
        return ids;
      })),
    );
  return written;
}

async function setLevels(
  tx: Statements,
  ids: readonly string[],
  levels: readonly (number | null)[],
): Promise<void> {
  const sql = `update station_status set chance = l.level from unnest(?::text[], ?::smallint[]) as l(id, level)
     join stations s on s.id = l.id and s.removed_at is null
     where station_id = l.id and station_id = any(?::text[]) returning l.id`;
  const changed = await rows<{ id: string }>(tx, sql, [ids, levels, ids]);
  await rows(tx, "select feed_stamp(?::text[])", [changed.map(({ id }) => id)]);
}

/**
 * Takes all chances away when nobody has followed the marks for two minutes: an old one would go on to promise. A duty;
 * gives the number of stations.
 */
export async function clearOldLevels(db: Db): Promise<number> {
  for (let total = 0; ;) {
    const cleared = await inTransaction(db, clearSome);
    total += cleared;
    if (cleared < atOnce) return total;
  }
}

async function clearSome(tx: Tx): Promise<number> {
  const silent = `select from chance_follower
    where followed_at < server_now() - interval '${silentS} s' and renewed_at is not null for update`;
  // Whoever follows again writes only after this commit.
  if ((await rows(tx, silent)).length === 0) return 0;
  const sql = `select s.station_id from station_status s join stations on id = s.station_id and removed_at is null
     where s.chance is not null order by 1 limit ${atOnce} for no key update of s`;
  const found = await rows<{ station_id: string }>(tx, sql);
  const ids = found.map(({ station_id }) => station_id);
  if (ids.length > 0)
    await setLevels(
      tx,
      ids,
      ids.map(() => null),
    );
  // Without a claim there is nothing to take away.
  if (ids.length < atOnce)
    await rows(tx, "update chance_follower set holder = null, renewed_at = null");
  return ids.length;
}
