import { distanceM } from "#src/domain/geo.ts";
import { grouped } from "#src/infrastructure/lists.ts";
import { candidateM, type Comparison, compareStations } from "#src/import/match-stations.ts";
import { nearPairs } from "#src/import/near-pairs.ts";
import { cluesOf, type Place } from "#src/import/place-clues.ts";

/** A row of a source; rows of one source are different stations. */
export interface SourcePlace extends Place {
  /** The sources that this station already has rows of. */
  sources: readonly string[];
}

export interface Pair extends Comparison {
  /** The two ids, in ascending order. */
  ids: readonly [string, string];
}

/** A station, or a row, that is or may be a part of another one. */
export interface Twins extends Pick<Pair, "distanceM" | "evidence"> {
  part: string;
  whole: string;
}

export interface Matched {
  sure: Pair[];
  doubtful: Pair[];
}

/** A second candidate with a score this near makes the first one doubtful. */
const clearBy = 2;
/** Two sources cover the same country when this share of the smaller one's stations is in the other, and in so many. */
const coverShare = 0.5;
const coverLeast = 20;

/**
 * Pairs of stations that have no source in common and may be one station. Each station is in one sure pair with a
 * source at most, its best; if another candidate is nearly as good, a person decides. `apart` are pairs that a person
 * has kept apart. The order of `places` makes no difference.
 */
export function matchSources(
  places: readonly SourcePlace[],
  apart: (a: string, b: string) => boolean = () => false,
): Matched {
  const near = nearPairs(places, candidateM, (a, b) => !meet(a, b)).map(
    ({ a, b }): readonly [SourcePlace, SourcePlace] => (a.id < b.id ? [a, b] : [b, a]),
  );
  if (near.length === 0) return { sure: [], doubtful: [] };
  const rivals = grouped(
    near.flatMap(([a, b]) => [[a, b] as const, [b, a] as const]),
    ([a]) => a,
  );
  const isShared = sharedPositions(places);
  const clues = new Map(near.flat().map((place) => [place, cluesOf(place)]));
  /** How much farther than b the next station of b's sources is from a. */
  const clearM = (a: SourcePlace, b: SourcePlace): number =>
    Math.min(
      ...rivals
        .get(a)!
        .filter(([, other]) => other !== b && meet(other, b))
        .map(([, other]) => distanceM(a, other) - distanceM(a, b)),
    );
  const match = (covers: (a: SourcePlace, b: SourcePlace) => boolean): Matched => {
    const pairs = near.map(([a, b]): Pair => {
      const around = {
        clearM: Math.min(clearM(a, b), clearM(b, a)),
        covered: covers(a, b),
        shared: isShared(a) || isShared(b),
      };
      return {
        ids: [a.id, b.id],
        ...compareStations(a, b, around, [clues.get(a)!, clues.get(b)!]),
      };
    });
    const possible = pairs.filter(({ verdict }) => verdict !== "different");
    return assign(possible, new Map(places.map((place) => [place.id, place.sources])), apart);
  };
  return match(coverage(places, match(() => false).sure));
}

/** Tests whether the sources of two stations cover the same country, by the pairs that are sure without knowing it. */
function coverage(
  places: readonly SourcePlace[],
  sure: readonly Pair[],
): (a: SourcePlace, b: SourcePlace) => boolean {
  const counts = new Map<string, number>();
  const count = (key: string): unknown => counts.set(key, (counts.get(key) ?? 0) + 1);
  const both = (ours: readonly string[], theirs: readonly string[]): string[] =>
    ours.flatMap((one) => theirs.map((other) => [one, other].sort().join("\n")));
  const sourcesOf = new Map(places.map(({ id, sources }) => [id, sources]));
  for (const { sources } of places) new Set([...sources, ...both(sources, sources)]).forEach(count);
  for (const { ids } of sure) both(sourcesOf.get(ids[0])!, sourcesOf.get(ids[1])!).forEach(count);
  const full = (key: string): boolean => {
    const size = Math.min(...key.split("\n").map((source) => counts.get(source)!));
    return (counts.get(key) ?? 0) >= Math.max(coverLeast, size * coverShare);
  };
  return (a, b) => both(a.sources, b.sources).every(full);
}

function assign(
  pairs: Pair[],
  sources: ReadonlyMap<string, readonly string[]>,
  apart: (a: string, b: string) => boolean,
): Matched {
  const best = pairs.sort((x, y) => y.score - x.score || (x.ids.join() < y.ids.join() ? -1 : 1));
  const ofId = grouped(
    best.flatMap((pair) => pair.ids.map((id) => [id, pair] as const)),
    ([id]) => id,
  );
  const taken = new Set<string>();
  const result: Matched = { sure: [], doubtful: [] };
  /** The partner's sources, each of which the station can have once. */
  const places = ([a, b]: readonly [string, string]): string[] => [
    ...sources.get(b)!.map((source) => `${a} ${source}`),
    ...sources.get(a)!.map((source) => `${b} ${source}`),
  ];
  for (const pair of best) {
    const wanted = places(pair.ids);
    if (apart(...pair.ids) || wanted.some((one) => taken.has(one))) continue;
    const isRivalled = pair.ids.some((id) =>
      ofId
        .get(id)!
        .some(
          ([, other]) =>
            other !== pair &&
            other.score > pair.score - clearBy &&
            places(other.ids).some((one) => wanted.includes(one)),
        ),
    );
    if (pair.verdict === "sure" && !isRivalled) {
      for (const one of wanted) taken.add(one);
      result.sure.push(pair);
    } else result.doubtful.push({ ...pair, verdict: "doubtful" });
  }
  return result;
}

/** True if two stations have rows of one source. */
export const meet = (a: SourcePlace, b: SourcePlace): boolean =>
  a.sources.some((source) => b.sources.includes(source));

/** Tests whether a station's position, to about a metre, is also that of another one of its source. */
function sharedPositions(places: readonly SourcePlace[]): (place: SourcePlace) => boolean {
  const keys = ({ lat, lon, sources }: SourcePlace): string[] =>
    sources.map((source) => `${source} ${Math.round(lat * 1e5)} ${Math.round(lon * 1e5)}`);
  const counts = new Map<string, number>();
  for (const place of places)
    for (const key of keys(place)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return (place) => keys(place).some((key) => counts.get(key)! > 1);
}
