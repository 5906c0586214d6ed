import { distanceM, type Point } from "#src/domain/geo.ts";
import { compileArea, type Area, type Region } from "#snapshots/model/area.ts";
import type { Matcher } from "#snapshots/model/filters.ts";
import { field, jsonOf, type Page, read, type Source, startOf } from "#snapshots/model/block.ts";
import type { PageTree } from "#snapshots/model/block-tree.ts";
import { addStation, emptySum, type Sum } from "#snapshots/model/sum.ts";

/** Stations of one page that belong to a result; `chosen` null means all of them. */
export interface Hit {
  page: Page;
  chosen: Uint8Array | null;
}

/** A result before it is cut, ordered or written. */
export interface Selection {
  region: Region;
  count: number;
  sum: Sum;
  hits: Hit[];
}

/** Finds the stations of an area that pass. What lies inside without a filter is taken as a whole. */
export function select(tree: PageTree, area: Area, matcher: Matcher | null): Selection {
  const region = compileArea(area);
  const found: Selection = { region, count: 0, sum: emptySum(), hits: [] };
  const take = (page: Page, chosen: Uint8Array): void => {
    const before = found.count;
    for (let slot = 0; slot < chosen.length; slot++) {
      if (chosen[slot] !== 1) continue;
      found.count++;
      addStation(found.sum, page, slot);
    }
    if (found.count > before) found.hits.push({ page, chosen });
  };
  tree.walk(
    region,
    (whole, sum) => {
      if (matcher !== null) return;
      found.count += whole;
      for (let lane = 0; lane < 3; lane++)
        found.sum[lane] = (found.sum[lane] as number) + (sum[lane] as number);
    },
    (page, covered) => {
      const within = covered ? null : inRegion(region, page);
      if (matcher !== null) take(page, matcher(page, within));
      else if (within !== null) take(page, within);
      else found.hits.push({ page, chosen: null });
    },
  );
  return found;
}

function inRegion(region: Region, page: Page): Uint8Array {
  const chosen = new Uint8Array(page.stations.length);
  for (let slot = 0; slot < chosen.length; slot++) {
    const lat = page.coordinates[slot * 2] as number;
    const lon = page.coordinates[slot * 2 + 1] as number;
    if (region.holds(lat, lon)) chosen[slot] = 1;
  }
  return chosen;
}

interface Ranked extends Source {
  station: number;
  distance: number;
}

/** The `limit` stations nearest to `centre`, nearest first, ties by id (decisions.md 7). */
export function nearest(
  hits: readonly Hit[],
  centre: Point,
  limit: number,
  byId: (a: number, b: number) => number,
): Ranked[] {
  const ranked: Ranked[] = [];
  for (const { page, chosen } of hits)
    page.stations.forEach((station, slot) => {
      if (chosen !== null && chosen[slot] !== 1) return;
      const lat = page.coordinates[slot * 2] as number;
      const lon = page.coordinates[slot * 2 + 1] as number;
      ranked.push({ page, slot, station, distance: distanceM(centre, { lat, lon }) });
    });
  const within = ranked.length > limit ? upTo(ranked, limit) : ranked;
  within.sort((a, b) => a.distance - b.distance || byId(a.station, b.station));
  return within.slice(0, limit);
}

/** Those not farther than the `limit`-th: a numeric sort finds that distance faster than sorting them all. */
function upTo(ranked: readonly Ranked[], limit: number): Ranked[] {
  const farthest = Float64Array.from(ranked, (one) => one.distance).sort()[limit - 1] as number;
  return ranked.filter((one) => one.distance <= farthest);
}

/** The same stations page by page, so that neighbours are written as one piece again. */
export function byPage(sources: readonly Source[]): Hit[] {
  const hits = new Map<Page, Uint8Array>();
  for (const { page, slot } of sources) {
    let chosen = hits.get(page);
    if (chosen === undefined) hits.set(page, (chosen = new Uint8Array(page.stations.length)));
    chosen[slot] = 1;
  }
  return [...hits].map(([page, chosen]) => ({ page, chosen }));
}

/** A piece of a list's JSON. */
export interface Piece {
  bytes: Buffer;
  /** The page of which it is the whole; null for a run of stations. */
  page: Page | null;
}

/**
 * The JSON of the stations as pieces of the pages' bytes; joined they read `{…},{…},…`. What comes from parts of pages
 * stands first, so that it can be packed in one go.
 */
export function piecesOf(hits: readonly Hit[]): Piece[] {
  const runs: Piece[] = [];
  const pages: Piece[] = [];
  for (const { page, chosen } of hits) {
    if (chosen === null || !chosen.includes(0)) {
      pages.push({ bytes: jsonOf(page), page });
      continue;
    }
    for (let slot = 0; slot < chosen.length; slot++) {
      if (chosen[slot] !== 1) continue;
      const start = startOf(page, slot);
      while (chosen[slot + 1] === 1) slot++;
      const end = read(page, slot, field.end);
      runs.push({ bytes: page.body.read().subarray(start, end), page: null });
    }
  }
  return withoutLastComma([...runs, ...pages]);
}

/** The stations of a result one by one, page by page. */
export function* sourcesOf(hits: readonly Hit[]): Generator<Source> {
  for (const { page, chosen } of hits)
    for (let slot = 0; slot < page.stations.length; slot++)
      if (chosen === null || chosen[slot] === 1) yield { page, slot };
}

/** The JSON of stations in the order given, in one buffer, a comma after each. */
export function copyInOrder(sources: readonly Source[]): Buffer {
  const starts = new Uint32Array(sources.length);
  const byPage = new Map<Page, number[]>();
  let size = 0;
  sources.forEach(({ page, slot }, i) => {
    starts[i] = size;
    size += read(page, slot, field.end) - startOf(page, slot);
    const here = byPage.get(page);
    if (here === undefined) byPage.set(page, [i]);
    else here.push(i);
  });
  const copy = Buffer.allocUnsafeSlow(size);
  // Page by page: each may have to be inflated for it.
  for (const [page, places] of byPage) {
    const bytes = page.body.read();
    for (const i of places) {
      const { slot } = sources[i] as Source;
      bytes.copy(copy, starts[i] as number, startOf(page, slot), read(page, slot, field.end));
    }
  }
  return copy;
}

/** The JSON of stations in the order given. */
export const piecesInOrder = (sources: readonly Source[]): Piece[] =>
  sources.length === 0 ? [] : [{ bytes: copyInOrder(sources).subarray(0, -1), page: null }];

function withoutLastComma(pieces: Piece[]): Piece[] {
  const last = pieces.at(-1);
  if (last !== undefined)
    pieces[pieces.length - 1] = { bytes: last.bytes.subarray(0, -1), page: last.page };
  return pieces;
}
