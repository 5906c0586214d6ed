import type { ChanceMark } from "#src/domain/chance/mark.ts";
import { dayMs, minuteMs } from "#src/domain/units.ts";
import { family, type Status } from "#src/domain/vocabulary.ts";
import { type Db, rows } from "#src/infrastructure/db.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import { countedNow, refoldMarks } from "#src/marks/histories.ts";
import { firstIdOfDay, fromMs, idAfter, msOf, networkDigits } from "#src/marks/marks.ts";

/** Older marks say nothing any more. */
export const heardMs = 3 * dayMs;

/** SQL: `time`, a column cut to ms, is after the binding, ms. */
const isAfter = (time: string, since = "?"): string =>
  `${time} >= ${fromMs.replace("?", since)} + interval '1 ms'`;
const counted = `${countedNow.sql} and processed_at is not null and outcome is not null`;
/** Columns of counted marks `m` that make a HeardRow. */
const columns = `m.id, m.station_id as "stationId", ${msOf("m.effective_at")} as at, m.status, m.remote,
  case when m.partner_id is not null then m.key_id end as "sourceId", m.reporter_id as "reporterId",
  coalesce((select ${msOf("first_seen")} from reporters r where r.id = m.reporter_id), 0) as "firstSeen",
  case when not m.shared_network then left(encode(m.viewer, 'hex'), ${networkDigits}) end as network`;
type HeardRow = Omit<ChanceMark, "fuel"> & { status: Status };

const heard = ({ status, ...mark }: HeardRow): ChanceMark => ({
  ...mark,
  fuel: family(status) === "has",
});

/**
 * The counted marks after `since`, ms, in the order in which they were received, some after the id `after`; fewer than
 * `limit` are the last. For a first look at all stations: imported statuses are not among them.
 */
export const marksReceived = async (
  db: Db,
  { since, now }: { since: number; now: number },
  after: number,
  limit: number,
): Promise<ChanceMark[]> =>
  (
    await rows<HeardRow>(
      db,
      `select ${columns} from (
         select * from marks where id > ${Math.max(after, firstIdOfDay(since) - 1)} and id < ${idAfter(now)}
           and ${isAfter("effective_at")} and ${counted} order by id limit ${limit}) m order by m.id`,
      [since],
    )
  ).map(heard);

/**
 * Each station's counted marks and imported statuses after a time of its own, ms, in their order; of more than
 * `refoldMarks` the newest.
 */
export async function marksOfStations(
  db: Db,
  since: ReadonlyMap<string, number>,
  now: number,
): Promise<Map<string, ChanceMark[]>> {
  if (since.size === 0) return new Map();
  const asked = [[...since.keys()], [...since.values()]];
  const [marks, seeds] = await Promise.all([
    rows<HeardRow>(
      db,
      `select ${columns} from unnest(?::text[], ?::bigint[]) as asked(station, since) cross join lateral (
         select * from marks where station_id = asked.station and ${isAfter("effective_at", "asked.since")} and ${counted}
           and id >= ${firstIdOfDay(Math.min(...since.values()))} and id < ${idAfter(now)}
         order by effective_at desc, id desc limit ${refoldMarks}) m`,
      asked,
    ),
    rows<{ stationId: string; at: number; importedAt: number; status: Status; source: number }>(
      db,
      `select station_id as "stationId", ${msOf("least(updated, imported_at)")} as at,
         ${msOf("imported_at")} as "importedAt", status, ${sourceId} as source
       from unnest(?::text[], ?::bigint[]) as asked(station, since)
       join seeds on station_id = asked.station and ${isAfter("least(updated, imported_at)", "asked.since")}`,
      asked,
    ),
  ]);
  const all = [...marks.map(heard), ...seeds.map(imported)];
  const sorted = all.sort((a, b) => a.at - b.at || a.id - b.id);
  return grouped(sorted, ({ stationId }) => stationId);
}

/** SQL: the id of an imported status' source among keys and reporters, below 0. */
const sourceId = "-1 - (hashtext(source) & 2147483647)";

/** The sources of imported statuses, by that id. */
export const feedSources = async (db: Db): Promise<[id: number, source: string][]> =>
  (
    await rows<{ id: number; source: string }>(
      db,
      `select distinct ${sourceId} as id, source from seeds`,
    )
  ).map(({ id, source }) => [id, source]);

/** An imported status, as a mark of somebody known, from afar: its feed is its source, and its only reporter. */
const imported = (seed: {
  stationId: string;
  at: number;
  importedAt: number;
  status: Status;
  source: number;
}): ChanceMark => ({
  ...{ id: seed.importedAt, at: seed.at, stationId: seed.stationId, remote: true, network: null },
  ...{ fuel: family(seed.status) === "has", sourceId: seed.source, reporterId: seed.source },
  // Two sources are not one hand.
  firstSeen: seed.source * minuteMs,
});
