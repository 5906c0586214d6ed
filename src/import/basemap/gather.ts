import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import {
  boundaryKind,
  coastKind,
  drawnKeys,
  type Kind,
  placeKind,
  riverKind,
  roadKind,
  waterKind,
} from "#src/import/basemap/kinds.ts";
import {
  type Contents,
  type Member,
  readBlock,
  type Tags,
  type Visitor,
} from "#src/import/basemap/osm-block.ts";
import { type BlockPlace, openOsmFile, type OsmFile } from "#src/import/basemap/osm-file.ts";
import { type Points, pointsOf } from "#src/import/basemap/points.ts";
import { joinRings, polygonsOf, type Ring } from "#src/import/basemap/rings.ts";
import {
  openSpill,
  readRecords,
  recordAt,
  recordOf,
  type Spill,
} from "#src/import/basemap/spill.ts";
import { advice, wrongFile } from "#src/import/read-text.ts";

/** Something to draw. `rings` of an area: the outer one, then its holes; coordinates in units of 1e-7 degrees. */
export interface Shape {
  kind: Kind;
  form: "point" | "line" | "area";
  rings: Int32Array[];
}

export type ShowStep = (step: string, done: number, total: number) => void;

interface Relation {
  kind: Kind;
  outer: number[];
  inner: number[];
}

interface WayHead {
  kind: Kind;
  form: "line" | "area";
}

/** What the first two passes over the file have found. */
interface Found {
  places: Shape[];
  lakes: Relation[];
  /** The lowest level of the borders that a way is part of. */
  borders: Map<number, Kind>;
  /** Ways that are drawn themselves, in a file. */
  ways: Spill;
  /** Ways that relations are made of, in another one, and where each lies in it. */
  members: Spill;
  memberAt: Map<number, number>;
  /** How many ids of nodes both files hold. */
  refs: number;
}

/**
 * Reads what a base map draws from an extract, in three passes: what is drawn, the ways of its relations, the places of
 * its nodes. Ways wait in files of `folder` meanwhile. Answers how many relations were broken.
 */
export async function gather(
  path: string,
  folder: string,
  show: ShowStep,
  draw: (shape: Shape) => void,
): Promise<{ broken: number; points: number }> {
  const file = await openOsmFile(path);
  const found: Found = {
    ...{ places: [], lakes: [], borders: new Map(), memberAt: new Map(), refs: 0 },
    ways: openSpill(join(folder, "ways")),
    members: openSpill(join(folder, "members")),
  };
  try {
    const blocks = await findDrawn(file, found, (at) => show("reading objects", at, file.size));
    await findMembers(file, blocks, found, (at) => show("reading outlines", at, file.size));
    found.ways.flush();
    found.members.flush();
    const points = pointsOf([found.ways.path, found.members.path], found.refs);
    await findPlaces(file, blocks, points, (at) => show("reading places", at, file.size));
    for (const place of found.places) draw(place);
    drawWays(found, points, draw, show);
    return { broken: drawLakes(found, points, draw), points: points.count };
  } finally {
    found.ways.close();
    found.members.close();
    await file.close();
  }
}

interface SortedBlocks {
  nodes: BlockPlace[];
  ways: BlockPlace[];
}

/** The first pass: everything that says by its tags that it is drawn. Answers which blocks hold nodes and ways. */
async function findDrawn(
  file: OsmFile,
  found: Found,
  progress: (at: number) => void,
): Promise<SortedBlocks> {
  const blocks: SortedBlocks = { nodes: [], ways: [] };
  const visitor: Visitor = {
    keys: drawnKeys,
    node(_, lon, lat, tags) {
      const kind = placeKind(tags);
      if (kind !== null)
        found.places.push({ kind, form: "point", rings: [Int32Array.of(lon, lat)] });
    },
    way(_, tags, refs) {
      const line = roadKind(tags) ?? riverKind(tags) ?? coastKind(tags);
      if (line !== null) return addWay(found, { kind: line, form: "line" }, refs);
      const closed = refs.length > 3 && refs[0] === refs.at(-1);
      const area = closed ? waterKind(tags) : null;
      if (area !== null) addWay(found, { kind: area, form: "area" }, refs);
    },
    relation: (_, tags, members) => noteRelation(found, tags, members),
  };
  for await (const [place, content] of file.all(progress)) {
    const { nodes, ways } = read(content, visitor, place.at);
    if (nodes) blocks.nodes.push(place);
    if (ways) blocks.ways.push(place);
  }
  return blocks;
}

function addWay(found: Found, head: WayHead, refs: readonly number[]): void {
  if (refs.length < 2) return;
  found.ways.add(recordOf(head, Float64Array.from(refs)));
  found.refs += refs.length;
}

function noteRelation(found: Found, tags: Tags, members: readonly Member[]): void {
  const ways = members.filter(({ type }) => type === "way");
  const border = tags["type"] === "boundary" ? boundaryKind(tags) : null;
  if (border !== null) {
    for (const { id } of ways) {
      const other = found.borders.get(id);
      if (other === undefined || other.minZoom > border.minZoom) found.borders.set(id, border);
    }
  }
  const water = tags["type"] === "multipolygon" ? waterKind(tags) : null;
  if (water === null) return;
  const idsOf = (inner: boolean): number[] =>
    ways.filter(({ role }) => (role === "inner") === inner).map(({ id }) => id);
  found.lakes.push({ kind: water, outer: idsOf(false), inner: idsOf(true) });
}

/** The second pass: the ways that relations are made of; they come before their relations in the file. */
async function findMembers(
  file: OsmFile,
  blocks: SortedBlocks,
  found: Found,
  progress: (at: number) => void,
): Promise<void> {
  const wanted = new Set(found.lakes.flatMap(({ outer, inner }) => [...outer, ...inner]));
  if (wanted.size === 0 && found.borders.size === 0) return;
  const visitor: Visitor = {
    keys: new Set(),
    anyWay(id, refsOf) {
      const border = found.borders.get(id);
      if (border !== undefined) addWay(found, { kind: border, form: "line" }, refsOf());
      if (!wanted.has(id)) return;
      const refs = refsOf();
      found.memberAt.set(id, found.members.add(recordOf({}, Float64Array.from(refs))));
      found.refs += refs.length;
    },
  };
  await readSome(file, blocks.ways, visitor, progress);
}

/** The third pass. */
const findPlaces = (
  file: OsmFile,
  blocks: SortedBlocks,
  points: Points,
  progress: (at: number) => void,
): Promise<void> =>
  readSome(
    file,
    blocks.nodes,
    { keys: new Set(), anyNode: (id, lon, lat) => points.put(id, lon, lat) },
    progress,
  );

async function readSome(
  file: OsmFile,
  places: readonly BlockPlace[],
  visitor: Visitor,
  progress: (at: number) => void,
): Promise<void> {
  let next = 0;
  for await (const content of file.some(places, progress))
    read(content, visitor, places[next++]!.at);
}

function read(content: Uint8Array, visitor: Visitor, at: number): Contents {
  try {
    return readBlock(content, visitor);
  } catch {
    throw wrongFile(`the block at byte ${at} cannot be read`, advice.cut);
  }
}

function drawWays(
  found: Found,
  points: Points,
  draw: (shape: Shape) => void,
  show: ShowStep,
): void {
  let done = 0;
  for (const { head, numbers } of readRecords<WayHead, Float64Array>(
    found.ways.path,
    Float64Array,
  )) {
    done += numbers.length;
    if (done % 1024 < numbers.length) show("placing", done, found.refs);
    const ring = points.of(numbers);
    // A node that the extract does not have leaves a gap; an area with one is not whole.
    const whole = ring.length === numbers.length * 2;
    if (ring.length >= 4 && (whole || head.form === "line")) draw({ ...head, rings: [ring] });
  }
}

/** Water that is made of several ways. Answers how many were broken. */
function drawLakes(found: Found, points: Points, draw: (shape: Shape) => void): number {
  const file = openSync(found.members.path, "r");
  try {
    return found.lakes.filter((lake) => {
      const polygons = polygonsOfLake(lake, found, points, file);
      for (const rings of polygons ?? []) draw({ kind: lake.kind, form: "area", rings });
      return polygons === null;
    }).length;
  } finally {
    closeSync(file);
  }
}

function polygonsOfLake(
  { outer, inner }: Relation,
  { memberAt }: Found,
  points: Points,
  file: number,
): Ring[][] | null {
  const ringsOf = (ids: readonly number[]): Ring[] | null => {
    const places = ids.map((id) => memberAt.get(id));
    if (places.includes(undefined)) return null;
    const ways = places.map((at) => [...recordAt(file, at!, Float64Array).numbers]);
    const joined = joinRings(ways);
    if (joined === null) return null;
    const rings = joined.map((ring) => points.of(ring));
    return rings.every(({ length }, n) => length === joined[n]!.length * 2) ? rings : null;
  };
  const shores = ringsOf(outer);
  // An island that is broken is only under water.
  return shores === null || shores.length === 0 ? null : polygonsOf(shores, ringsOf(inner) ?? []);
}
