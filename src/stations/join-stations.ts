import { Type } from "typebox";
import type { ConsolePair, Joins } from "#src/contract/console.ts";
import { rows, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { lockStations } from "#src/infrastructure/locks.ts";
import { already, changed, invalid, operatorAct, nothing, unknown } from "#src/operators/act.ts";
import { stationId } from "#src/operators/inputs.ts";
import { pathOf } from "#src/stations/edit-station.ts";
import { showFields } from "#src/stations/shown-fields.ts";

const pair = Type.Object({ other: stationId }, { additionalProperties: false });

/**
 * Makes a station a part of another one (decisions 14.29): its id answers with the other one from then on, its marks
 * go there, and partners get it as removed. Its own parts become those of the other one.
 */
export const mergeStation = operatorAct(pair, stationId, async (tx, { other: whole }, id, by) => {
  if (id === whole) return invalid("other", "Is the same station");
  const stations = await lockBoth(tx, id, whole);
  for (const one of [id, whole]) if (!stations.has(one)) return unknown("station", one);
  for (const one of [id, whole])
    if (!stations.get(one)) return changed("station", one, await whyOut(tx, one));
  await joinStations(tx, [{ part: id, whole }], by.actor);
  return {
    value: { id, other: whole },
    action: "station.merge",
    subject: `station ${id}`,
    details: { into: whole },
    undo: { path: `${pathOf(id)}/split` },
    touched: [id],
  };
});

/** Takes a station out of the one that it is a part of: it is in service again, with the marks that it had before. */
export const splitStation = operatorAct(nothing, stationId, async (tx, _, id, by) => {
  const { part_of: whole } = await joinsOf(tx, id);
  if (whole === null) {
    const isKnown = (await lockBoth(tx, id)).has(id);
    return isKnown ? already("station", id, "a station of its own") : unknown("station", id);
  }
  await lockBoth(tx, id, whole);
  const sql = `update station_pairs set verdict = 'apart', actor = ?, at = server_now(), moving = true
     where station_id = ? and into_id = ? and verdict = 'joined' returning 1`;
  const [split] = await rows(tx, sql, [by.actor, id, whole]);
  if (split === undefined) return changed("station", id, "was split or merged meanwhile");
  await rows(tx, "update stations set removed_at = null, updated_at = server_now() where id = ?", [
    id,
  ]);
  await showFields(tx, [whole]);
  await rows(tx, "select feed_stamp(?::text[])", [[id, whole]]);
  return {
    value: { id, from: whole },
    action: "station.split",
    subject: `station ${id}`,
    details: { from: whole },
    undo: { path: `${pathOf(id)}/merge`, body: { other: whole } },
    touched: [whole, id],
  };
});

/** Keeps two stations apart that may be one: no import joins them. */
export const keepStationsApart = operatorAct(pair, stationId, async (tx, { other }, id, by) => {
  const sql = `update station_pairs set verdict = 'apart', actor = ?, at = server_now()
       where verdict = 'doubtful' and array[station_id, into_id] <@ array[?, ?] returning 1`;
  const [kept] = await rows(tx, sql, [by.actor, id, other]);
  if (kept === undefined) return changed("pair", `${id} ${other}`, "is not doubtful any more");
  return {
    value: { id, other },
    action: "station.keep-apart",
    subject: `station ${id}`,
    details: { other },
  };
});

/**
 * Joins parts to stations in service, each part once; the rows of all of them in `stations` are locked, in ascending
 * order. The last statements before the commit.
 */
export async function joinStations(
  tx: Tx,
  joins: readonly {
    part: string;
    whole: string;
    distanceM?: number;
    evidence?: readonly string[];
  }[],
  actor: string,
): Promise<void> {
  const parts = joins.map(({ part }) => part);
  const both = [parts, joins.map(({ whole }) => whole)] as const;
  // Under this lock workers write to the parts' marks, the first one of a station included.
  await lockStations(tx, parts, "wait");
  const sql =
    "select station_id as id from station_status where station_id = any(?::text[]) and (state is not null or refold)";
  const marked = await rows<{ id: string }>(tx, sql, [parts]);
  const pairs = "unnest(?::text[], ?::text[]) as j (part, whole)";
  // What the whole gets by its part is no news for drivers who wait for a grade.
  const insertSql = `insert into station_grades (station_id, grades)
     select j.whole, array_agg(distinct grade) from ${pairs}
       join station_grades s on s.station_id = j.part, unnest(s.grades) as grade group by 1 order by 1
     on conflict (station_id) do update
       set grades = array(select distinct unnest(station_grades.grades || excluded.grades))`;
  await rows(tx, insertSql, both);
  const deleteSql = `delete from station_pairs p using ${pairs} where p.station_id = j.whole and p.into_id = j.part`;
  await rows(tx, deleteSql, both);
  await rows(
    tx,
    `insert into station_pairs (station_id, into_id, verdict, actor, moving, distance_m, evidence)
     select part, whole, 'joined', ?, part = any(?::text[]), metres, string_to_array(evidence, ', ')
     from unnest(?::text[], ?::text[], ?::int[], ?::text[]) as j (part, whole, metres, evidence)
     on conflict (station_id, into_id) do update
       set verdict = 'joined', actor = excluded.actor, at = server_now(), moving = excluded.moving, gone = false`,
    [
      actor,
      marked.map(({ id }) => id),
      ...both,
      joins.map(({ distanceM = 0 }) => Math.round(distanceM)),
      joins.map(({ evidence = [] }) => evidence.join(", ")),
    ],
  );
  // Parts of parts: each is a part of the whole now. A pair that was once taken apart gives way.
  const inner = `station_pairs p, ${pairs} where p.into_id = j.part and p.verdict = 'joined'`;
  await rows(
    tx,
    `delete from station_pairs old using ${inner} and old.station_id = p.station_id and old.into_id = j.whole`,
    both,
  );
  const movedSql = `update station_pairs set into_id = j.whole, moving = true from ${pairs}
     where into_id = j.part and verdict = 'joined' returning station_id`;
  const moved = await rows<{ station_id: string }>(tx, movedSql, both);
  const updateSql =
    "update stations set removed_at = server_now(), updated_at = server_now() where id = any(?::text[])";
  await rows(tx, updateSql, [parts]);
  // A part shows its own values; the stations that it is a part of now, what the rules say.
  await showFields(tx, parts);
  const { served } = await showFields(tx, [...new Set(joins.map(({ whole }) => whole))]);
  const gone = [...parts, ...moved.map(({ station_id: id }) => id)];
  await rows(tx, "select feed_stamp(?::text[], false)", [served]);
  await rows(tx, "select feed_stamp(?::text[], true)", [gone]);
}

/** The station that this one is a part of, and its own parts. */
export async function joinsOf(db: Statements, id: string): Promise<Joins> {
  const found = await rows<Joins["parts"][number] & { station_id: string; into_id: string }>(
    db,
    `select p.station_id, p.into_id, s.source, p.actor, array(select key from station_own o, jsonb_each(o.fields)
       where o.station_id = p.into_id and value ->> 'of' = p.station_id order by key) as shows
     from station_pairs p join stations s on s.id = p.station_id
     where p.verdict = 'joined' and (p.station_id = ? or p.into_id = ?) order by p.station_id`,
    [id, id],
  );
  return {
    part_of: found.find((pair) => pair.station_id === id)?.into_id ?? null,
    parts: found
      .filter((pair) => pair.into_id === id)
      .map(({ station_id, source, actor, shows }) => ({ id: station_id, source, actor, shows })),
  };
}

const pairsShown = 500;

/** Pairs that may be one station, the nearest first, each with both stations. */
export const doubtfulPairs = (db: Statements): Promise<ConsolePair[]> =>
  rows<ConsolePair>(
    db,
    `select p.distance_m, p.evidence, ${stationJson("a")} as station, ${stationJson("b")} as into
     from station_pairs p join stations a on a.id = p.station_id join stations b on b.id = p.into_id
     where p.verdict = 'doubtful' and a.removed_at is null and b.removed_at is null
     order by p.distance_m, p.station_id, p.into_id limit ${pairsShown}`,
  );

const stationJson = (of: string): string =>
  `json_build_object(${["id", "source", "lat", "lon", "brand", "name", "addr"].map((field) => `'${field}', ${of}.${field}`).join(", ")})`;

/** Locks two stations; tells of each that exists if it is in service. */
async function lockBoth(tx: Tx, ...ids: string[]): Promise<Map<string, boolean>> {
  const sql = `select id, removed_at is null as open from stations where id = any(?::text[]) order by id for no key update`;
  const found = await rows<{ id: string; open: boolean }>(tx, sql, [ids]);
  return new Map(found.map(({ id, open }) => [id, open]));
}

const whyOut = async (tx: Tx, id: string): Promise<string> => {
  const { part_of: whole } = await joinsOf(tx, id);
  return whole === null ? "is out of service" : `is a part of station ${whole}`;
};
