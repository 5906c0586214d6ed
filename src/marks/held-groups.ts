import type { ConsoleHeldGroup } from "#src/contract/console-review.ts";
import type { Speaker } from "#src/domain/chance/shares.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { networkDigits } from "#src/marks/source-blocks.ts";
import { firstIdOfDayAfter, msOf } from "#src/marks/marks.ts";
import { nearestCity } from "#src/marks/nearest-city.ts";

/** Some metres: no phone in a hand measures the station's own point so well. */
const exactDegrees = 0.00003;
/** Marks of others within this time before or after a held mark are compared with it. */
const comparedHours = 3;

type Row = Omit<ConsoleHeldGroup, "said" | "selection" | "leans" | "lies"> &
  ConsoleHeldGroup["said"] & { speakers: Speaker[]; last: number };

/** Of a larger group the lies are those of so many of its marks. */
const speakersMost = 200;

/** Fewer marks of others say nothing. */
const othersMin = 3;
/** The others lean to a side that has so many times the marks of the other one. */
const leaningAt = 2;

/** The decision that marks of others at the same stations speak for; null when they are too few, or divided. */
export function leaning(agree: number, disagree: number): ConsoleHeldGroup["leans"] {
  if (agree + disagree < othersMin) return null;
  if (disagree >= leaningAt * agree) return "reject";
  return agree >= leaningAt * disagree ? "approve" : null;
}

/**
 * Held marks by their source (a key, or a network of the map), city and hour of receipt, the oldest first (decisions 4.21);
 * with `shareOf`, what is believed of lies, those first that most likely lie, in steps of five percent (decisions 23.26). `city` is `""` for stations near no city. `agree` and `disagree`: counted marks of other sources at
 * the same stations within three hours, by whether both say `no` or both say something else.
 */
export async function heldGroups(
  db: Db,
  shareOf?: (speaker: Speaker) => number,
): Promise<ConsoleHeldGroup[]> {
  const found = await readGroups(db);
  const groups = found.map(
    ({ yes, low, no, queue, speakers, last, ...group }): ConsoleHeldGroup => {
      const { key_id: key, network, city, hour } = group;
      const source = network === null ? { ...(key === null ? {} : { key }) } : { network };
      const lies = speakers.reduce((sum, one) => sum + (shareOf?.(one) ?? 0), 0) / speakers.length;
      return {
        ...group,
        lies: shareOf === undefined ? null : Math.round(100 * lies),
        leans: leaning(group.agree, group.disagree),
        said: { yes, low, no, queue },
        // What comes after the group was read is in another one: nobody has seen it.
        selection: { ...source, city, since: hour, until: last + 1 },
      };
    },
  );
  const step = ({ lies }: ConsoleHeldGroup): number => Math.floor((lies ?? 0) / 5);
  return groups.sort((a, b) => step(b) - step(a));
}

const readGroups = (db: Db): Promise<Row[]> =>
  rows<Row>(
    db,
    `select ${msOf("date_trunc('hour', m.received_at)")} as hour,
       case when m.viewer is null then m.key_id end as key_id, left(encode(m.viewer, 'hex'), ${networkDigits}) as network,
       case when m.viewer is null then min(p.name) end as partner, coalesce(c.name, '') as city,
       ${msOf("max(m.received_at)")} as last, count(*) as marks, count(distinct m.station_id) as stations, count(distinct m.reporter_id) as reporters,
       count(*) filter (where m.status = 'yes') as yes, count(*) filter (where m.status = 'low') as low,
       count(*) filter (where m.status = 'no') as no, count(*) filter (where m.status = 'queue') as queue,
       (array_agg(json_build_object('fuel', m.status <> 'no', 'newcomer', m.newcomer, 'remote', m.remote,
         'sourceId', case when m.partner_id is not null then m.key_id end, 'reporterId', m.reporter_id)))[1:${speakersMost}] as speakers,
       count(distinct m.reporter_id) filter (where m.newcomer) as newcomers,
       count(*) filter (where abs(m.lat - a.lat) < ${exactDegrees} and abs(m.lon - a.lon) < ${exactDegrees}) as exact,
       extract(epoch from max(m.received_at) - min(m.received_at))::int as span_s,
       sum(o.agree)::int as agree, sum(o.disagree)::int as disagree
     from marks m join stations a on a.id = m.station_id left join ${nearestCity} on true
     left join keys k on k.id = m.key_id left join partners p on p.id = k.partner_id
     cross join lateral (
       select count(*) filter (where (n.status = 'no') = (m.status = 'no')) as agree,
         count(*) filter (where (n.status = 'no') <> (m.status = 'no')) as disagree
       from marks n where n.station_id = m.station_id and n.reporter_id <> m.reporter_id
         and n.effective_at between m.effective_at - interval '${comparedHours} hours'
           and m.effective_at + interval '${comparedHours} hours'
         and n.review in ('none', 'approved') and n.processed_at is not null and n.failed_at is null
         and case when m.viewer is null then n.key_id is distinct from m.key_id
           else n.viewer is distinct from m.viewer end
         -- Both were received within a day of their moments.
         and n.id >= ${firstIdOfDayAfter("m.id", -2)} and n.id < ${firstIdOfDayAfter("m.id", 3)}) o
     where m.review = 'held'
     group by 1, 2, 3, c.name, m.viewer is null order by 1, marks desc`,
  );
