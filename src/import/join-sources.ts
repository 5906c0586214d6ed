import type { StationRow } from "#src/feed/feed.ts";
import {
  matchSources,
  meet,
  type Pair,
  type SourcePlace,
  type Twins,
} from "#src/import/match-sources.ts";
import { type Db, inTransaction, rows, type Tx } from "#src/infrastructure/db.ts";
import { columnsOf, grouped, slices } from "#src/infrastructure/lists.ts";
import { joinStations } from "#src/stations/join-stations.ts";

const chunkJoins = 500;

/** Registers' ids of those stations that have some, from tags such as `ref:mise`. */
export type Refs = ReadonlyMap<string, readonly string[]>;

interface Stored extends SourcePlace {
  /** By the age of its row: the older of two stations keeps its id. */
  age: number;
}

/**
 * Joins the stations that `source` has in common with other sources, after its import (decisions 14.31), and stores the
 * doubtful pairs for a person. Those of the demo are invented: they are no other's. Gives the number of stations that
 * became parts, and of doubtful pairs. `found` are the file's stations, `away` parts that are not in it any more.
 * `dryRun` only looks.
 */
export async function joinSources(
  db: Db,
  source: string,
  { found, refs, away }: { found: readonly StationRow[]; refs: Refs; away: readonly string[] },
  dryRun: boolean,
): Promise<{ joined: number; asked: number }> {
  if (!dryRun) await saveRefs(db, source, found, refs);
  const others = `select from stations where source not in (?, 'demo') and removed_at is null`;
  const [any] = await rows<{ is: boolean }>(db, `select exists (${others}) as is`, [source]);
  if (!any!.is) return { joined: 0, asked: 0 };
  const sql = "select station_id as a, into_id as b, verdict from station_pairs";
  const pairs = await rows<{ a: string; b: string; verdict: string }>(db, sql);
  const of = (verdict: string) => pairs.filter((pair) => pair.verdict === verdict);
  const apart = new Set(of("apart").flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`]));
  const partsOf = grouped(of("joined"), ({ b }) => b);
  const members = (id: string): string[] => [id, ...(partsOf.get(id) ?? []).map(({ a }) => a)];
  // A person who has taken a part out of a station has taken it from all of it.
  const isApart = (a: string, b: string): boolean =>
    members(a).some((one) => members(b).some((other) => apart.has(`${one} ${other}`)));
  const stored = await storedPlaces(db, away);
  const known = new Set([...stored.map(({ id }) => id), ...of("joined").map(({ a }) => a)]);
  // Stations of a dry run are not stored yet.
  const coming = found
    .filter(({ id }) => dryRun && !known.has(id))
    .map((row) => ({ ...row, refs: refs.get(row.id) ?? [], sources: [source], age: Infinity }));
  const places = [...stored, ...coming];
  const { sure, doubtful } = matchSources(places, isApart);
  const oldestFirst = byAge(places);
  const joins = joinsOf(places, sure, oldestFirst, isApart);
  if (!dryRun) {
    for (const some of slices(joins, chunkJoins))
      await inTransaction(db, (tx) => joinOpen(tx, some));
    const asked = doubtful.map((pair) => {
      const [whole, part] = [...pair.ids].sort(oldestFirst);
      return { ...pair, part: part!, whole: whole! };
    });
    await saveDoubtful(db, asked, null);
  }
  return { joined: joins.length, asked: doubtful.length };
}

/** Stores what is new, and what a file no longer says. */
async function saveRefs(db: Db, source: string, found: readonly StationRow[], refs: Refs) {
  const sql =
    "select id from station_refs join stations on id = station_id where source = ? and refs <> '{}'";
  const stored = await rows<{ id: string }>(db, sql, [source]);
  const silent = new Set(stored.map(({ id }) => id).filter((id) => !refs.has(id)));
  const gone = found.filter(({ id }) => silent.has(id)).map(({ id }) => id);
  const [ids, texts] = [[...refs.keys()], [...refs.values()].map((some) => some.join(" "))];
  await rows(
    db,
    `insert into station_refs (station_id, refs)
     select s.id, string_to_array(r.refs, ' ') from unnest(?::text[], ?::text[]) as r (id, refs) join stations s using (id)
       left join station_refs o on o.station_id = s.id
     where coalesce(array_to_string(o.refs, ' '), '') <> r.refs
     on conflict (station_id) do update set refs = excluded.refs`,
    [
      [...ids, ...gone],
      [...texts, ...gone.map(() => "")],
    ],
  );
}

const storedPlaces = (db: Db, away: readonly string[]): Promise<Stored[]> =>
  rows<Stored>(
    db,
    `select s.id, s.lat, s.lon, s.brand, s.name, s.addr, coalesce(r.refs, '{}') as refs,
       array_append(coalesce(p.sources, '{}'), s.source) as sources, extract(epoch from s.created_at)::float8 as age
     from stations s left join station_refs r on r.station_id = s.id left join (
       select into_id, array_agg(part.source) as sources from station_pairs join stations part on part.id = station_id
       where verdict = 'joined' and not gone and part.id <> all(?::text[]) group by 1) p on p.into_id = s.id
     where s.removed_at is null and s.source <> 'demo'`,
    [away],
  );

type Order = (a: string, b: string) => number;

function byAge(places: readonly Stored[]): Order {
  const ageOf = new Map(places.map(({ id, age }) => [id, age]));
  return (a, b) => ageOf.get(a)! - ageOf.get(b)! || (a < b ? -1 : 1);
}

/**
 * Pairs as parts of the oldest station of each group, so that no part is the part of a part. A pair that would bring
 * into one group what a person keeps apart, or two rows of one source, is left out.
 */
function joinsOf(
  places: readonly Stored[],
  sure: readonly Pair[],
  oldestFirst: Order,
  isApart: (a: string, b: string) => boolean,
): Twins[] {
  const placeOf = new Map(places.map((place) => [place.id, place]));
  const groupOf = new Map<string, Set<string>>();
  const groupWith = (id: string): string[] => [...(groupOf.get(id) ?? [id])];
  const excludes = (a: string, b: string): boolean =>
    a !== b && (isApart(a, b) || meet(placeOf.get(a)!, placeOf.get(b)!));
  for (const { ids } of sure) {
    const [left, right] = [groupWith(ids[0]), groupWith(ids[1])];
    if (left.some((a) => right.some((b) => excludes(a, b)))) continue;
    const group = new Set(ids.flatMap((id) => [id, ...(groupOf.get(id) ?? [])]));
    for (const id of group) groupOf.set(id, group);
  }
  const pairOf = grouped(
    sure.flatMap((pair) => pair.ids.map((id) => ({ id, pair }))),
    ({ id }) => id,
  );
  return [...new Set(groupOf.values())].flatMap((group) => {
    const [whole, ...parts] = [...group].sort(oldestFirst);
    return parts.map((part) => ({ ...pairOf.get(part)![0]!.pair, part, whole: whole! }));
  });
}

/**
 * Joins those whose stations are still in service, the parts too unless they are `fresh` rows, and that nobody has kept
 * apart meanwhile. Gives the parts.
 */
export async function joinOpen(tx: Tx, pairs: readonly Twins[], fresh = false): Promise<string[]> {
  const ids = pairs.flatMap(({ part, whole }) => [part, whole]);
  const sql = `select id, removed_at is null as open from stations where id = any(?::text[])
     order by id for no key update`;
  const found = await rows<{ id: string; open: boolean }>(tx, sql, [ids]);
  const inService = new Set(found.filter(({ open }) => open).map(({ id }) => id));
  const keptSql = `select station_id as a, into_id as b from station_pairs
     where verdict = 'apart' and station_id = any(?::text[]) and into_id = any(?::text[])`;
  const kept = await rows<{ a: string; b: string }>(tx, keptSql, [ids, ids]);
  const apart = new Set(kept.flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`]));
  const joins = pairs.filter(
    ({ part, whole }) =>
      (fresh || inService.has(part)) && inService.has(whole) && !apart.has(`${part} ${whole}`),
  );
  if (joins.length > 0) await joinStations(tx, joins, "import");
  return joins.map(({ part }) => part);
}

/**
 * The doubtful pairs of now, in place of those of the last import: pairs of two sources, or within `source`. What a
 * person has decided stays.
 */
export const saveDoubtful = (
  db: Db,
  pairs: readonly Twins[],
  source: string | null,
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const lists = columnsOf(pairs, "part", "whole");
    const sql = `delete from station_pairs p using stations a, stations b
       where verdict = 'doubtful' and a.id = p.station_id and b.id = p.into_id
         and case when a.source = b.source then a.source else '' end = coalesce(?, '') and not exists (
         select from unnest(?::text[], ?::text[]) as d (a, b) where d.a = p.station_id and d.b = p.into_id)`;
    await rows(tx, sql, [source, ...lists]);
    await rows(
      tx,
      `insert into station_pairs (station_id, into_id, verdict, actor, distance_m, evidence)
       select a, b, 'doubtful', 'import', metres, string_to_array(evidence, ', ')
       from unnest(?::text[], ?::text[], ?::int[], ?::text[]) as d (a, b, metres, evidence)
         join stations s on s.id = a join stations t on t.id = b on conflict do nothing`,
      [
        ...lists,
        pairs.map(({ distanceM }) => Math.round(distanceM)),
        pairs.map(({ evidence }) => evidence.join(", ")),
      ],
    );
  });
