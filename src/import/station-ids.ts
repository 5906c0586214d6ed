import { distanceM } from "#src/domain/geo.ts";
import { candidateM, contradiction, type Evidence } from "#src/import/match-stations.ts";
import { matchSources, type SourcePlace, type Twins } from "#src/import/match-sources.ts";
import type { ImportedStation } from "#src/import/osm-station.ts";
import { joinOpen } from "#src/import/join-sources.ts";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { columnsOf, grouped, slices } from "#src/infrastructure/lists.ts";
import { type idsOfSource, placeOf, saveListed } from "#src/import/apply-stations.ts";
import { earlierIdOf, hashedId } from "#src/stations/own-ids.ts";

/** What an import stores of the ids in its file. */
interface GivenIds {
  /** New ids of stations that stay under the id that they had. */
  aliases: Twins[];
  /** Stations that may be gone, or be a new row: a person decides, and until then they stay. */
  asked: Twins[];
  /** Stations whose id is not the `plain` one that the source's own id makes. */
  named: { plain: string; id: string }[];
}

type Row = ImportedStation;

/** A row farther than this from its station may be another one's. */
const homeM = 25;
const sameness = new Set<Evidence>(["same register id", "same brand", "same name"]);

/**
 * Gives each row of a file the id of its station in place of the one that its own id makes (decisions 14.43 to 14.45):
 * the stored one, the one that an earlier version made, or that of a station that has another number now. `replaces`: the
 * file has all stations that are left.
 */
export async function giveIds(
  db: Db,
  source: string,
  found: readonly Row[],
  { places, parts }: Pick<Awaited<ReturnType<typeof idsOfSource>>, "places" | "parts">,
  replaces: boolean,
): Promise<GivenIds> {
  const namedSql = "select plain, station_id as id from source_ids where source = ?";
  const named = await rows<{ plain: string; id: string }>(db, namedSql, [source]);
  const idOf = new Map(named.map(({ plain, id }) => [plain, id]));
  const othersSql = "select id from stations where source <> ? and starts_with(id, ? || '-')";
  const others = await rows<{ id: string }>(db, othersSql, [source, source]);
  const given = new Set([...others, ...named].map(({ id }) => id));
  const known = places.numbers;
  const awayM = (row: Row): number => {
    const home = placeOf(places, row.id);
    if (home?.lat === row.lat && home.lon === row.lon) return 0;
    return home === undefined ? Infinity : distanceM(row, home);
  };
  const twins: GivenIds = { aliases: [], asked: [], named: [] };
  const isFirst = known.size === 0;
  // Most files bring the same stations as the last one.
  const isWhole = parts.length === 0 && found.length === known.size;
  if (given.size === 0 && (isFirst || (isWhole && found.every((row) => awayM(row) <= homeM))))
    return twins;
  const plainOf = new Map<Row, string>();
  const rowOf = new Map<string, Row>();
  for (const row of found) rowOf.set(row.id, row);
  const rename = (row: Row, id: string): void => {
    if (!plainOf.has(row)) plainOf.set(row, row.id);
    if (rowOf.get(row.id) === row) rowOf.delete(row.id);
    row.id = id;
    rowOf.set(id, row);
  };
  /** Another id for a row whose own one is another station's. */
  const renew = (row: Row): void => {
    let [own, id] = [row.own ?? row.id, ""];
    do id = hashedId(source, (own += "\n"));
    while (given.has(id) || known.has(id));
    given.add(id);
    rename(row, id);
  };
  for (const row of given.size === 0 ? [] : found) {
    const id = idOf.get(row.id);
    if (id !== undefined) rename(row, id);
    else if (given.has(row.id)) renew(row);
  }
  const wholeOf = new Map(parts.map(({ id, whole }) => [id, whole]));
  // New numbers of stations that their old ones do not name any more, or that name others.
  for (const { id, whole, listed } of parts) {
    const [row, owner] = [rowOf.get(id), rowOf.get(whole)];
    if (row === undefined || !known.has(whole)) continue;
    if (owner !== undefined && !listed && awayM(owner) > candidateM) renew(owner);
    if (!rowOf.has(whole)) rename(row, whole);
  }
  const isNew = (row: Row): boolean => !known.has(row.id) && !wholeOf.has(row.id);
  const earlier = grouped(
    found.filter((row) => row.own !== undefined && row.id !== `${source}-${row.own}` && isNew(row)),
    ({ own }) => earlierIdOf(source, own!),
  );
  for (const [id, [row, ...more]] of earlier)
    if (more.length === 0 && known.has(id) && !rowOf.has(id) && !/[^\0-\x7f]/.test(row!.own!)) {
      const part = row!.id;
      rename(row!, id);
      twins.aliases.push({ part, whole: id, distanceM: awayM(row!), evidence: [] });
    }

  const pairsSql = `select station_id as part, into_id as whole, verdict, distance_m as "distanceM", evidence
     from station_pairs join stations on id = station_id where source = ? and verdict <> 'joined'`;
  const pairs = await rows<Twins & { verdict: string }>(db, pairsSql, [source]);
  twins.asked = pairs.filter(
    ({ part, whole, verdict }) =>
      verdict === "doubtful" && rowOf.has(part) && known.has(whole) && !rowOf.has(whole),
  );
  const decided = new Set(
    pairs.flatMap(({ part, whole }) => [`${part} ${whole}`, `${whole} ${part}`]),
  );
  const mayMove = (row: Row): boolean => row.sells !== "gas" && !wholeOf.has(row.id);
  const coming = isFirst ? [] : found.filter((row) => mayMove(row) && awayM(row) > homeM);
  const away = new Set(coming);
  const left = [...known.keys()].filter((id) => !rowOf.has(id) || away.has(rowOf.get(id)!));
  const sql = `select id, lat, lon, brand, name, addr, coalesce(refs, '{}') as refs
     from stations left join station_refs on station_id = id where id = any(?::text[])`;
  const stations = await rows<Omit<SourcePlace, "sources">>(db, sql, [left]);
  // Under numbers of their own: what an id has in common with another one says nothing here, but an earlier one does.
  const compared = [
    ...coming.map((row, n): SourcePlace => {
      const refs = [...(row.refs ?? []), isNew(row) ? earlierIdOf(source, row.own ?? "") : ""];
      return { ...row, id: `+${n}`, refs, sources: ["file"] };
    }),
    ...stations.map((one, n): SourcePlace => {
      return { ...one, id: `=${n}`, refs: [...one.refs!, one.id], sources: ["stored"] };
    }),
  ];
  const both = ([a, b]: readonly [string, string]) =>
    [coming[Number(a.slice(1))]!, stations[Number(b.slice(1))]!] as const;
  const { sure, doubtful } = matchSources(compared, (...ids) => {
    const [row, { id }] = both(ids);
    return decided.has(`${row.id} ${id}`);
  });
  const wanted = new Map<Row, Twins>();
  for (const pair of [...sure, ...doubtful]) {
    const { verdict, evidence, distanceM: metres } = pair;
    const [row, station] = both(pair.ids);
    const next = { part: row.id, whole: station.id, distanceM: metres, evidence };
    const isSame = evidence.some((one) => sameness.has(one));
    // A station that a part of the country does not have may still be there.
    const isGone = replaces || rowOf.has(station.id) || (metres <= homeM && isSame);
    if (verdict === "sure" && isGone && contradiction(row, station) === undefined)
      wanted.set(row, next);
    else if (isNew(row) && !rowOf.has(station.id)) twins.asked.push(next);
  }
  // The row of a station's own id is that station, unless it is elsewhere, or another one itself.
  const isKept = (row: Row | undefined): boolean =>
    row !== undefined && !wanted.has(row) && awayM(row) <= candidateM;
  for (let count = -1; count !== wanted.size;) {
    count = wanted.size;
    for (const [row, { whole }] of wanted)
      if (whole === row.id || isKept(rowOf.get(whole))) wanted.delete(row);
  }
  for (const { whole } of wanted.values()) {
    const row = rowOf.get(whole);
    if (row !== undefined && !wanted.has(row)) renew(row);
  }
  for (const [row, next] of wanted) {
    if (isNew(row)) twins.aliases.push(next);
    rename(row, next.whole);
  }
  twins.asked = twins.asked.filter(({ whole }) => !rowOf.has(whole));
  const alias = new Set(twins.aliases.map(({ part }) => part));
  for (const [row, plain] of plainOf) {
    const isKnown = (idOf.get(plain) ?? wholeOf.get(plain)) === row.id || alias.has(plain);
    if (!isKnown) twins.named.push({ plain, id: row.id });
  }
  return twins;
}

const chunkAliases = 500;

/** Stores them, when the file's stations are saved. New numbers become parts of their stations (decisions 14.29). */
export async function saveIds(db: Db, source: string, { named, aliases }: GivenIds): Promise<void> {
  await rows(
    db,
    `insert into source_ids (source, plain, station_id)
     select ?, plain, id from unnest(?::text[], ?::text[]) as n (plain, id) join stations using (id)
     on conflict (plain, source) do update set station_id = excluded.station_id`,
    [source, ...columnsOf(named, "plain", "id")],
  );
  for (const some of slices(aliases, chunkAliases))
    await inTransaction(db, async (tx) => {
      const insertSql = `insert into stations (id, source, lat, lon, brand, name, addr, removed_at)
         select part, source, lat, lon, brand, name, addr, server_now()
         from unnest(?::text[], ?::text[]) as a (part, whole) join stations on id = whole on conflict do nothing`;
      await rows(tx, insertSql, columnsOf(some, "part", "whole"));
      const parts = await joinOpen(tx, some, true);
      await saveListed(tx, { listed: [], gone: parts });
    });
}
