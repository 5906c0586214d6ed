import { packByPlace, pageMax } from "#snapshots/kd-pack.ts";
import { joinPage, type Page, type Source } from "#snapshots/page.ts";
import { type Leaf, measured, type PageTree } from "#snapshots/page-tree.ts";
import type { Station } from "#snapshots/station.ts";

/** A page of one station, newly rendered. */
type Rendered = Page;

/** Pages smaller than this are joined with their neighbour when both fit into one. */
const pageMin = 32;

export interface Edit {
  /** Stations to replace, move or insert, each with its new bytes. */
  put: ReadonlyMap<Station, Rendered>;
  /** Stations to take out. */
  remove: ReadonlySet<Station>;
}

/**
 * Brings the pages up to date: every touched page is replaced once, pages that overflow are split, and
 * only then, or when pages vanish, the tree's rectangles are worked out anew.
 */
export function writePages(tree: PageTree, { put, remove }: Edit): void {
  const arrivals = new Map<Leaf, Rendered[]>();
  const touched = new Set<Leaf>();
  const homeless: Rendered[] = [];
  const stays = new Map<Station, Rendered>();
  for (const [station, rendered] of put) {
    const [lat, lon] = rendered.coordinates as unknown as [number, number];
    if (station.leaf !== null) touched.add(station.leaf);
    if (station.leaf !== null && tree.contains(station.leaf, lat, lon)) {
      stays.set(station, rendered);
      continue;
    }
    const leaf = tree.nearest(lat, lon);
    if (leaf === undefined) homeless.push(rendered);
    else {
      touched.add(leaf);
      const here = arrivals.get(leaf);
      if (here === undefined) arrivals.set(leaf, [rendered]);
      else here.push(rendered);
    }
  }
  for (const station of remove) if (station.leaf !== null) touched.add(station.leaf);

  const replacement = new Map<Leaf, Leaf[]>();
  for (const leaf of touched) {
    const sources = sourcesOf(leaf.page, stays, put, remove);
    for (const page of arrivals.get(leaf) ?? []) sources.push({ page, slot: 0 });
    if (sources.length > 0 && sources.length <= pageMax) settle(leaf, joinPage(sources));
    else replacement.set(leaf, leavesOf(sources));
    if (sources.length < pageMin && !replacement.has(leaf)) replacement.set(leaf, [leaf]);
  }
  for (const station of remove) station.leaf = null;
  if (replacement.size === 0 && homeless.length === 0) {
    for (const leaf of touched) tree.refresh(leaf);
    return;
  }
  const leaves = tree.leaves().flatMap((leaf) => replacement.get(leaf) ?? [leaf]);
  const first = leavesOf(homeless.map((page) => ({ page, slot: 0 })));
  tree.rebuild(joinSmall([...leaves, ...first]));
}

/** What remains of a page, with the changed stations in place of the old ones. */
function sourcesOf(
  page: Page,
  stays: ReadonlyMap<Station, Rendered>,
  put: ReadonlyMap<Station, Rendered>,
  remove: ReadonlySet<Station>,
): Source[] {
  const sources: Source[] = [];
  page.stations.forEach((station, slot) => {
    const rendered = stays.get(station);
    if (rendered !== undefined) sources.push({ page: rendered, slot: 0 });
    else if (!put.has(station) && !remove.has(station)) sources.push({ page, slot });
  });
  return sources;
}

/** Puts a page into a leaf and tells its stations where they are. */
function settle(leaf: Leaf, page: Page): Leaf {
  Object.assign(leaf, measured(page));
  page.stations.forEach((station, slot) => {
    station.leaf = leaf;
    station.slot = slot;
  });
  return leaf;
}

const leavesOf = (sources: Source[]): Leaf[] =>
  packByPlace(sources).map((group) => settle({ index: 0 } as Leaf, joinPage(group)));

/** Joins a page that has become small with the one before it. */
function joinSmall(leaves: readonly Leaf[]): Leaf[] {
  const joined: Leaf[] = [];
  for (const leaf of leaves) {
    const before = joined.at(-1);
    const [a, b] = [before?.page.stations.length ?? pageMax, leaf.page.stations.length];
    if (before === undefined || Math.min(a, b) >= pageMin || a + b > pageMax) {
      joined.push(leaf);
      continue;
    }
    const sources = [before, leaf].flatMap(({ page }) =>
      page.stations.map((_, slot) => ({ page, slot })),
    );
    settle(before, joinPage(sources));
  }
  return joined;
}
