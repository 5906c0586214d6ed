import { PbfReader } from "pbf";

/** An object of OpenStreetMap, as Overpass writes it: `type`, `id`, `lat`, `lon`, `tags`, `nodes`, `members`. */
export type Element = Record<string, unknown>;

const types = ["node", "way", "relation"] as const;
type OsmType = (typeof types)[number];

/** Which objects of a block are read: those with a tag of this value, and those of these ids. */
export interface Wanted {
  value?: string;
  ids?: Partial<Record<OsmType, ReadonlySet<number>>>;
}

interface Block {
  strings: Uint8Array[];
  /** The number of the wanted value among the strings; -1 if no object has it. */
  wanted: number;
  groups: Uint8Array[];
  granularity: number;
  lonOffset: number;
  latOffset: number;
}

const decoder = new TextDecoder();
// The unit of coordinates is a multiple of 1e-9 degrees, mostly 100; objects are placed by 1e-7.
const nanoPerUnit = 100;

/** Takes an object if it is wanted. `words`: numbers of keys and values in turn. */
type Take = (type: OsmType, id: number, words: readonly number[], rest: () => object) => void;

/**
 * The wanted objects of one block (a `PrimitiveBlock`, not compressed), and the types of all objects in it. Throws the
 * reader's error for garbled bytes.
 */
export function readBlock(
  bytes: Uint8Array,
  { value, ids = {} }: Wanted,
): { found: Element[]; held: ReadonlySet<OsmType> } {
  const block = openBlock(bytes, value);
  const found: Element[] = [];
  const held = new Set<OsmType>();
  const hasValue = block.wanted > 0;
  const take: Take = (type, id, words, rest) => {
    const isTagged = hasValue && words.some((word, n) => n % 2 === 1 && word === block.wanted);
    if (isTagged || ids[type]?.has(id) === true)
      found.push({ type, id, tags: tagsOf(block, words), ...rest() });
  };
  for (const group of block.groups)
    new PbfReader(group).readFields((tag, _, pbf) => {
      const type = ([undefined, "node", "node", "way", "relation"] as const)[tag];
      if (type === undefined) return;
      held.add(type);
      // Unread fields are skipped.
      if (!hasValue && ids[type] === undefined) return;
      const part = pbf.readBytes();
      if (tag === 2) readDense(part, block, take);
      else readObject(type, part, block, take);
    }, null);
  return { found, held };
}

function openBlock(bytes: Uint8Array, value: string | undefined): Block {
  const block: Block = {
    ...{ strings: [], wanted: -1, groups: [] },
    ...{ granularity: nanoPerUnit, lonOffset: 0, latOffset: 0 },
  };
  new PbfReader(bytes).readFields((tag, into, pbf) => {
    if (tag === 1)
      pbf.readMessage((field, strings, reader) => {
        if (field === 1) strings.push(reader.readBytes());
      }, into.strings);
    if (tag === 2) into.groups.push(pbf.readBytes());
    if (tag === 17) into.granularity = pbf.readVarint();
    if (tag === 19) into.latOffset = pbf.readVarint(true);
    if (tag === 20) into.lonOffset = pbf.readVarint(true);
  }, block);
  if (value !== undefined) {
    const sought = Buffer.from(value);
    block.wanted = block.strings.findIndex((string) => sought.equals(string));
  }
  return block;
}

const tagsOf = ({ strings }: Block, words: readonly number[]): Record<string, string> => {
  const texts = words.map((word) => decoder.decode(strings[word]));
  return Object.fromEntries(
    texts.flatMap((text, n) => (n % 2 === 0 ? [[text, texts[n + 1]!]] : [])),
  );
};

const pointOf = ({ latOffset, lonOffset, granularity }: Block, lat: number, lon: number) => ({
  lat: Math.round((latOffset + granularity * lat) / nanoPerUnit) / 1e7,
  lon: Math.round((lonOffset + granularity * lon) / nanoPerUnit) / 1e7,
});

/** A node, way or relation by itself. The fields from 8 on mean something else for each. */
function readObject(type: OsmType, bytes: Uint8Array, block: Block, take: Take): void {
  const [keys, values]: [number[], number[]] = [[], []];
  let [id, lat, lon] = [0, 0, 0];
  let refs: Uint8Array | undefined;
  const memberTypes: number[] = [];
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag === 1) id = type === "node" ? pbf.readSVarint() : pbf.readVarint();
    if (tag === 2) pbf.readPackedVarint(keys);
    if (tag === 3) pbf.readPackedVarint(values);
    if (tag === 8 && type === "node") lat = pbf.readSVarint();
    if (tag === 9 && type === "node") lon = pbf.readSVarint();
    if (tag === (type === "way" ? 8 : 9) && type !== "node") refs = pbf.readBytes();
    if (tag === 10 && type === "relation") pbf.readPackedVarint(memberTypes);
  }, null);
  const words = keys.flatMap((key, n) => [key, values[n]!]);
  take(type, id, words, () => {
    if (type === "node") return pointOf(block, lat, lon);
    const nodes = refs === undefined ? [] : summed(refs);
    if (type === "way") return { nodes };
    return { members: nodes.map((ref, n) => ({ type: types[memberTypes[n]!], ref })) };
  });
}

/** Many nodes in columns: ids and coordinates as differences, tags of all in one list with 0 after each node's. */
function readDense(bytes: Uint8Array, block: Block, take: Take): void {
  const [ids, lats, lons, words]: [number[], number[], number[], number[]] = [[], [], [], []];
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag === 1) pbf.readPackedSVarint(ids);
    if (tag === 8) pbf.readPackedSVarint(lats);
    if (tag === 9) pbf.readPackedSVarint(lons);
    if (tag === 10) pbf.readPackedVarint(words);
  }, null);
  let [id, lon, lat, to] = [0, 0, 0, 0];
  for (const [n, step] of ids.entries()) {
    id += step;
    lon += lons[n]!;
    lat += lats[n]!;
    const from = to;
    while ((words[to] ?? 0) !== 0) to += 2;
    const [atLat, atLon] = [lat, lon];
    take("node", id, words.slice(from, to), () => pointOf(block, atLat, atLon));
    to += 1;
  }
}

/** The values from signed differences, which have no length before them. */
function summed(bytes: Uint8Array): number[] {
  const pbf = new PbfReader(bytes);
  const values: number[] = [];
  let value = 0;
  while (pbf.pos < pbf.length) {
    value += pbf.readSVarint();
    values.push(value);
  }
  return values;
}
