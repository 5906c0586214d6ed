import { hourMs } from "#src/domain/units.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { firstIdOfDay, idAfter } from "#src/marks/marks.ts";

/** The newest marks are enough, and a busy hour costs no more than a quiet one. */
const marksAtMost = 10_000;

/**
 * The share, 0 to 1, that one source has in the counted marks of the last hour: the partner or the viewer's network
 * with the most. Reads at most the newest marks, by their ids. 0 without marks.
 */
export async function busiestSourceShare(db: Db, now: number): Promise<number> {
  const [found] = await rows<{ share: number }>(
    db,
    `select coalesce(max(marks) / sum(marks), 0)::double precision as share from (
       select count(*) as marks from (
         select source, partner_id, key_id, viewer, received_at, review from marks
         where id >= ? and id < ? order by id desc limit ${marksAtMost}
       ) newest
       where received_at > server_now() - interval '1 hour' and review in ('none', 'approved')
       group by case source when 'partner' then coalesce('partner ' || partner_id, 'key ' || key_id)
         else encode(viewer, 'hex') end
     ) sources`,
    [firstIdOfDay(now - hourMs), idAfter(now)],
  );
  return found!.share;
}
