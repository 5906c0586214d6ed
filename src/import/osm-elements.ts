import type { Point } from "#src/domain/geo.ts";
import { isRecord } from "#src/import/json-items.ts";
import type { Element } from "#src/import/osm-block.ts";
import { middleOfExtent } from "#src/import/osm-object.ts";
import type { FileRecord } from "#src/import/records.ts";

type Elements = AsyncIterable<FileRecord[]>;

/** A file of OSM objects, which is read again for the objects that a first reading has shown to be needed. */
export interface OsmSource {
  stations(): Elements;
  ways(ids: ReadonlySet<number>): Elements;
  nodes(ids: ReadonlySet<number>): Elements;
}

/** Such a file of which each reading gives all objects. `keep` selects the stations. */
export const rereading = (
  read: (pass: number) => Elements,
  keep: (element: Element) => boolean,
): OsmSource => ({
  stations: () => selected(read(0), keep),
  ways: (ids) => selected(read(1), ({ type, id }) => type === "way" && ids.has(Number(id))),
  nodes: (ids) => selected(read(2), ({ type, id }) => type === "node" && ids.has(Number(id))),
});

async function* selected(
  elements: Elements,
  keep: (element: Element) => boolean,
): AsyncGenerator<FileRecord[]> {
  for await (const some of elements)
    yield some.filter(({ refused, value }) => refused !== undefined || keep(value));
}

/**
 * True for filling stations of today, of the past and of the future, and for those of boats and aircraft: the import
 * refuses the latter by name.
 */
export const mayBeStation = (tags: unknown): boolean =>
  isRecord(tags) &&
  Object.keys(tags).some((key) => tags[key] === "fuel" && /(^|:)(amenity|\w+way)$/.test(key));

/**
 * The stations of a file; a way without a place at the middle of its nodes, a relation at the middle of its members, if
 * they are in the file. Only the stations' own nodes are held in memory.
 */
export async function* withPlaces(source: OsmSource): AsyncGenerator<FileRecord[]> {
  const unplaced: FileRecord[] = [];
  for await (const some of source.stations()) {
    yield some.filter(({ value }) => isPlaced(value));
    for (const record of some) if (!isPlaced(record.value)) unplaced.push(record);
  }
  if (unplaced.length === 0) return;

  const members = unplaced.flatMap(({ value }) => membersOf(value));
  const nodesOfWay = new Map<number, readonly number[]>();
  const ways = new Set(members.filter(({ type }) => type === "way").map(({ ref }) => ref));
  if (ways.size > 0)
    for await (const some of source.ways(ways))
      for (const { value } of some) nodesOfWay.set(Number(value["id"]), nodesOf(value));
  const nodesOfPart = ({ type, ref }: Member): readonly number[] =>
    type === "node" ? [ref] : (nodesOfWay.get(type === "way" ? ref : 0) ?? []);
  const outline = (value: Element): number[] => [
    ...nodesOf(value),
    ...membersOf(value).flatMap(nodesOfPart),
  ];

  const needed = new Set(unplaced.flatMap(({ value }) => outline(value)));
  const places = new Map<number, Point>();
  if (needed.size > 0)
    for await (const some of source.nodes(needed))
      for (const { value } of some)
        places.set(Number(value["id"]), { lat: Number(value["lat"]), lon: Number(value["lon"]) });
  yield unplaced.map(({ value, ...record }) => {
    const center = middleOfExtent(outline(value).flatMap((id) => places.get(id) ?? []));
    return { ...record, value: center === null ? value : { ...value, center } };
  });
}

/** True if a place is known, or cannot be found. */
const isPlaced = (value: Element): boolean =>
  ["lat", "center", "bounds", "geometry"].some((key) => key in value) ||
  nodesOf(value).length + membersOf(value).length === 0;

interface Member {
  type: unknown;
  ref: number;
}

const nodesOf = ({ nodes }: Element): readonly number[] =>
  Array.isArray(nodes) ? nodes.map(Number) : [];

const membersOf = ({ members }: Element): readonly Member[] =>
  Array.isArray(members)
    ? members.filter(isRecord).map(({ type, ref }) => ({ type, ref: Number(ref) }))
    : [];
