import type { StationRow } from "#src/feed/feed.ts";
import { matchSources, type Pair, type SourcePlace } from "#src/import/match-sources.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { grouped, slices } from "#src/infrastructure/lists.ts";
import { joinStations } from "#src/stations/join-stations.ts";

const chunkJoins = 500;

/** Registers' ids of a source's stations, from tags such as `ref:mise`. */
export type Refs = ReadonlyMap<string, readonly string[]>;

interface Stored extends SourcePlace {
  /** By the age of its row: the older of two stations keeps its id. */
  age: number;
}

/**
 * Joins the stations that `source` has in common with other sources, after its import (decisions 14.31), and stores the
 * doubtful pairs for a person. Gives the number of joined pairs, of those of the import itself the first `shown` ones,
 * and the number of doubtful pairs. `dryRun` only looks; `found` are then the file's stations.
 */
export async function joinSources(
  db: Db,
  source: string,
  found: readonly StationRow[],
  refs: Refs,
  dryRun: boolean,
): Promise<{ joined: number; asked: number }> {
  if (!dryRun) await saveRefs(db, refs);
  const others = "select from stations where source <> ? and removed_at is null";
  const [any] = await rows<{ is: boolean }>(db, `select exists (${others}) as is`, [source]);
  if (!any!.is) return { joined: 0, asked: 0 };
  const pairs = await rows<{ a: string; b: string; verdict: string }>(
    db,
    "select station_id as a, into_id as b, verdict from station_pairs",
  );
  const of = (verdict: string) => pairs.filter((pair) => pair.verdict === verdict);
  const apart = new Set(of("apart").flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`]));
  const stored = await storedPlaces(db);
  const known = new Set([...stored.map(({ id }) => id), ...of("joined").map(({ a }) => a)]);
  // Stations of a dry run are not stored yet.
  const coming = found
    .filter(({ id }) => dryRun && !known.has(id))
    .map((row) => ({ ...row, refs: refs.get(row.id) ?? [], sources: [source], age: Infinity }));
  const places = [...stored, ...coming];
  const { sure, doubtful } = matchSources(places, (a, b) => apart.has(`${a} ${b}`));
  if (!dryRun) {
    const joins = joinsOf(places, sure);
    for (const some of slices(joins, chunkJoins)) await saveJoins(db, some);
    await saveDoubtful(db, doubtful);
  }
  return { joined: sure.length, asked: doubtful.length };
}

const saveRefs = async (db: Db, refs: Refs): Promise<void> => {
  const told = [...refs].filter(([, some]) => some.length > 0);
  await rows(
    db,
    `insert into station_refs (station_id, refs)
     select s.id, string_to_array(r.refs, ' ') from unnest(?::text[], ?::text[]) as r (id, refs) join stations s using (id)
     on conflict (station_id) do update set refs = excluded.refs where station_refs.refs <> excluded.refs`,
    [told.map(([id]) => id), told.map(([, some]) => some.join(" "))],
  );
};

const storedPlaces = (db: Db): Promise<Stored[]> =>
  rows<Stored>(
    db,
    `select s.id, s.lat, s.lon, s.brand, s.name, s.addr, coalesce(r.refs, '{}') as refs,
       array_append(coalesce(p.sources, '{}'), s.source) as sources, extract(epoch from s.created_at)::float8 as age
     from stations s left join station_refs r on r.station_id = s.id left join (
       select into_id, array_agg(part.source) as sources from station_pairs join stations part on part.id = station_id
       where verdict = 'joined' group by 1) p on p.into_id = s.id
     where s.removed_at is null`,
  );

interface Join {
  part: string;
  whole: string;
  metres: number;
  evidence: readonly string[];
}

/** Pairs as parts of the oldest station of each group, so that no part is the part of a part. */
function joinsOf(places: readonly Stored[], sure: readonly Pair[]): Join[] {
  const ageOf = new Map(places.map(({ id, age }) => [id, age]));
  const older = (a: string, b: string): number => ageOf.get(a)! - ageOf.get(b)! || (a < b ? -1 : 1);
  const groupOf = new Map<string, Set<string>>();
  for (const { ids } of sure) {
    const group = new Set(ids.flatMap((id) => [id, ...(groupOf.get(id) ?? [])]));
    for (const id of group) groupOf.set(id, group);
  }
  const pairOf = grouped(
    sure.flatMap((pair) => pair.ids.map((id) => ({ id, pair }))),
    ({ id }) => id,
  );
  return [...new Set(groupOf.values())].flatMap((group) => {
    const [whole, ...parts] = [...group].sort(older);
    return parts.map((part) => {
      const { distanceM, evidence } = pairOf.get(part)![0]!.pair;
      return { part, whole: whole!, metres: Math.round(distanceM), evidence };
    });
  });
}

/** Joins those whose stations are still in service. */
const saveJoins = (db: Db, joins: readonly Join[]): Promise<void> =>
  inTransaction(db, async (tx) => {
    const ids = joins.flatMap(({ part, whole }) => [part, whole]);
    const open = await rows<{ id: string }>(
      tx,
      "select id from stations where id = any(?::text[]) and removed_at is null order by id for no key update",
      [ids],
    );
    const inService = new Set(open.map(({ id }) => id));
    const still = joins.filter(({ part, whole }) => inService.has(part) && inService.has(whole));
    if (still.length > 0) await joinStations(tx, still, "import");
  });

/** The doubtful pairs of now, in place of those of the last import. What a person has decided stays. */
const saveDoubtful = (db: Db, pairs: readonly Pair[]): Promise<void> =>
  inTransaction(db, async (tx) => {
    const lists = [pairs.map(({ ids }) => ids[1]), pairs.map(({ ids }) => ids[0])];
    await rows(
      tx,
      `delete from station_pairs p where verdict = 'doubtful' and not exists (
         select from unnest(?::text[], ?::text[]) as d (a, b) where d.a = p.station_id and d.b = p.into_id)`,
      lists,
    );
    await rows(
      tx,
      `insert into station_pairs (station_id, into_id, verdict, actor, distance_m, evidence)
       select a, b, 'doubtful', 'import', metres, string_to_array(evidence, ', ')
       from unnest(?::text[], ?::text[], ?::int[], ?::text[]) as d (a, b, metres, evidence) on conflict do nothing`,
      [
        ...lists,
        pairs.map(({ distanceM }) => Math.round(distanceM)),
        pairs.map(({ evidence }) => evidence.join(", ")),
      ],
    );
  });
