import { packByPlace, pageMax } from "#snapshots/model/kd-pack.ts";
import { joinPage, type Page, type Piece, type Rendered } from "#snapshots/model/block.ts";
import type { PageShelf } from "#snapshots/model/block-shelf.ts";
import { type Leaf, measured, type PageTree } from "#snapshots/model/block-tree.ts";
import type { StationTable } from "#snapshots/model/station-table.ts";

/** Pages smaller than this are joined with their neighbour when both fit into one. */
const pageMin = 32;

export interface Edit {
  /** Stations to replace, move or insert, by number, each with its new bytes. */
  put: ReadonlyMap<number, Rendered>;
  /** Stations to take out. */
  remove: ReadonlySet<number>;
}

/** What pages are written into. */
interface Book {
  tree: PageTree;
  table: StationTable;
  shelf: PageShelf;
}

/**
 * Brings the pages up to date: every touched page is replaced once, pages that overflow are split, and
 * only then, or when pages vanish, the tree's rectangles are worked out anew.
 */
export function writePages(book: Book, { put, remove }: Edit): void {
  const { tree, table } = book;
  const arrivals = new Map<Leaf, Rendered[]>();
  const touched = new Set<Leaf>();
  const homeless: Rendered[] = [];
  const stays = new Map<number, Rendered>();
  for (const [station, rendered] of put) {
    const { lat, lon } = rendered;
    const home = table.leaf[station] ?? null;
    if (home !== null) touched.add(home);
    if (home !== null && tree.contains(home, lat, lon)) {
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
  for (const station of remove) {
    const leaf = table.leaf[station] ?? null;
    if (leaf !== null) touched.add(leaf);
  }

  const replacement = new Map<Leaf, Leaf[]>();
  for (const leaf of touched) {
    const { page } = leaf;
    const sources = [...remaining(page, stays, put, remove), ...(arrivals.get(leaf) ?? [])];
    page.body.release();
    if (sources.length > 0 && sources.length <= pageMax) settle(book, leaf, sources);
    else replacement.set(leaf, leavesOf(book, sources));
    if (sources.length < pageMin && !replacement.has(leaf)) replacement.set(leaf, [leaf]);
  }
  for (const station of remove) table.leaf[station] = null;
  if (replacement.size === 0 && homeless.length === 0) {
    for (const leaf of touched) tree.refresh(leaf);
    return;
  }
  const leaves = tree.leaves().flatMap((leaf) => replacement.get(leaf) ?? [leaf]);
  tree.rebuild(joinSmall(book, [...leaves, ...leavesOf(book, homeless)]));
}

/** What remains of a page, with the changed stations in place of the old ones. */
function remaining(
  page: Page,
  stays: ReadonlyMap<number, Rendered>,
  put: ReadonlyMap<number, Rendered>,
  remove: ReadonlySet<number>,
): Piece[] {
  const sources: Piece[] = [];
  page.stations.forEach((station, slot) => {
    const rendered = stays.get(station);
    if (rendered !== undefined) sources.push(rendered);
    else if (!put.has(station) && !remove.has(station)) sources.push({ page, slot });
  });
  return sources;
}

/** Puts a new page into a leaf and notes where its stations are. */
function settle({ table, shelf }: Book, leaf: Leaf, sources: readonly Piece[]): Leaf {
  // What has been read lately is likely to be read again.
  const warm = (leaf as Partial<Leaf>).page?.body.isPlain() ?? false;
  const page = joinPage(sources, shelf, warm);
  Object.assign(leaf, measured(page));
  page.stations.forEach((station, slot) => {
    table.leaf[station] = leaf;
    table.slot[station] = slot;
  });
  return leaf;
}

const leavesOf = (book: Book, sources: Piece[]): Leaf[] =>
  packByPlace(sources).map((group) => settle(book, { index: 0 } as Leaf, group));

/** Joins a page that has become small with the one before it. */
function joinSmall(book: Book, leaves: readonly Leaf[]): Leaf[] {
  const joined: Leaf[] = [];
  for (const leaf of leaves) {
    const before = joined.at(-1);
    const [a, b] = [before?.page.stations.length ?? pageMax, leaf.page.stations.length];
    if (before === undefined || Math.min(a, b) >= pageMin || a + b > pageMax) {
      joined.push(leaf);
      continue;
    }
    const pages = [before.page, leaf.page];
    const sources = pages.flatMap((page) =>
      Array.from(page.stations, (_, slot) => ({ page, slot })),
    );
    for (const page of pages) page.body.release();
    settle(book, before, sources);
  }
  return joined;
}
