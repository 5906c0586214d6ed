import { PbfReader } from "pbf";

export type Tags = Readonly<Record<string, string>>;

export interface Member {
  type: "node" | "way" | "relation";
  id: number;
  role: string;
}

/** Callbacks for the objects of a block. Objects without a tag of the value `value` are skipped unread. */
export interface Visitor {
  value?: string;
  node?: (id: number, lon: number, lat: number, tags: Tags) => void;
  way?: (id: number, tags: Tags, refs: number[]) => void;
  relation?: (id: number, tags: Tags, members: Member[]) => void;
  /** Every node, tagged or not, in units of 1e-7 degrees. */
  anyNode?: (id: number, lon: number, lat: number) => void;
  /** Every way; `refs` reads the ids of its nodes. */
  anyWay?: (id: number, refs: () => number[]) => void;
}

/** The types of objects in a block. */
export interface Contents {
  nodes: boolean;
  ways: boolean;
  relations: boolean;
}

interface Block {
  strings: Uint8Array[];
  texts: (string | undefined)[];
  /** The number of the wanted value among the strings; -1 if no object has it. */
  wanted: number;
  groups: Uint8Array[];
  granularity: number;
  lonOffset: number;
  latOffset: number;
}

const decoder = new TextDecoder();
const memberTypes = ["node", "way", "relation"] as const;
// The unit of coordinates is a multiple of 1e-9 degrees, mostly 100.
const nanoPerUnit = 100;

/** Reads one block (a `PrimitiveBlock`, not compressed). Throws the reader's error for garbled bytes. */
export function readBlock(bytes: Uint8Array, visitor: Visitor): Contents {
  const block = openBlock(bytes, visitor.value);
  const isWanted =
    block.wanted > 0 || visitor.anyNode !== undefined || visitor.anyWay !== undefined;
  const contents = { nodes: false, ways: false, relations: false };
  for (const group of block.groups) {
    new PbfReader(group).readFields((tag, into, pbf) => {
      if (tag > 4) return;
      const part = pbf.readBytes();
      if (tag === 1 || tag === 2) into.nodes = true;
      if (tag === 3) into.ways = true;
      if (tag === 4) into.relations = true;
      if (!isWanted) return;
      if (tag === 1) readNode(part, block, visitor);
      if (tag === 2) readDense(part, block, visitor);
      if (tag === 3) readWay(part, block, visitor);
      if (tag === 4) readRelation(part, block, visitor);
    }, contents);
  }
  return contents;
}

function openBlock(bytes: Uint8Array, value: string | undefined): Block {
  const block: Block = {
    ...{ strings: [], texts: [], wanted: -1, groups: [] },
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
  if (value !== undefined)
    block.wanted = block.strings.findIndex(
      (string, n) => string.length === value.length && textOf(block, n) === value,
    );
  return block;
}

const textOf = (block: Block, n: number): string =>
  (block.texts[n] ??= decoder.decode(block.strings[n]));

/** The tags, or null if none has the wanted value. */
function tagsOf(block: Block, keys: readonly number[], values: readonly number[]): Tags | null {
  if (!values.includes(block.wanted)) return null;
  return Object.fromEntries(keys.map((key, n) => [textOf(block, key), textOf(block, values[n]!)]));
}

const lonOf = (block: Block, raw: number): number =>
  Math.round((block.lonOffset + block.granularity * raw) / nanoPerUnit);
const latOf = (block: Block, raw: number): number =>
  Math.round((block.latOffset + block.granularity * raw) / nanoPerUnit);

function readNode(bytes: Uint8Array, block: Block, visitor: Visitor): void {
  if (visitor.node === undefined && visitor.anyNode === undefined) return;
  const node = { id: 0, keys: [] as number[], values: [] as number[], lat: 0, lon: 0 };
  new PbfReader(bytes).readFields((tag, into, pbf) => {
    if (tag === 1) into.id = pbf.readSVarint();
    if (tag === 2) pbf.readPackedVarint(into.keys);
    if (tag === 3) pbf.readPackedVarint(into.values);
    if (tag === 8) into.lat = pbf.readSVarint();
    if (tag === 9) into.lon = pbf.readSVarint();
  }, node);
  tellNode(block, visitor, node);
}

interface RawNode {
  id: number;
  lon: number;
  lat: number;
  keys: readonly number[];
  values: readonly number[];
}

function tellNode(block: Block, visitor: Visitor, { id, lon, lat, keys, values }: RawNode): void {
  visitor.anyNode?.(id, lonOf(block, lon), latOf(block, lat));
  if (visitor.node === undefined || keys.length === 0) return;
  const tags = tagsOf(block, keys, values);
  if (tags !== null) visitor.node(id, lonOf(block, lon), latOf(block, lat), tags);
}

/** Many nodes in columns: ids and coordinates as differences, tags of all in one list with 0 after each node's. */
function readDense(bytes: Uint8Array, block: Block, visitor: Visitor): void {
  if (visitor.node === undefined && visitor.anyNode === undefined) return;
  const columns = {
    ids: [] as number[],
    lats: [] as number[],
    lons: [] as number[],
    tags: [] as number[],
  };
  new PbfReader(bytes).readFields((tag, into, pbf) => {
    if (tag === 1) pbf.readPackedSVarint(into.ids);
    if (tag === 8) pbf.readPackedSVarint(into.lats);
    if (tag === 9) pbf.readPackedSVarint(into.lons);
    if (tag === 10 && visitor.node !== undefined) pbf.readPackedVarint(into.tags);
  }, columns);
  let [id, lon, lat, tag] = [0, 0, 0, 0];
  for (let n = 0; n < columns.ids.length; n += 1) {
    id += columns.ids[n]!;
    lon += columns.lons[n]!;
    lat += columns.lats[n]!;
    const [keys, values]: [number[], number[]] = [[], []];
    for (; (columns.tags[tag] ?? 0) !== 0; tag += 2) {
      keys.push(columns.tags[tag]!);
      values.push(columns.tags[tag + 1]!);
    }
    tag += 1;
    tellNode(block, visitor, { id, lon, lat, keys, values });
  }
}

interface RawWay {
  id: number;
  keys: number[];
  values: number[];
  refs: Uint8Array | null;
}

function readWay(bytes: Uint8Array, block: Block, visitor: Visitor): void {
  if (visitor.way === undefined && visitor.anyWay === undefined) return;
  const way: RawWay = { id: 0, keys: [], values: [], refs: null };
  new PbfReader(bytes).readFields((tag, into, pbf) => {
    if (tag === 1) into.id = pbf.readVarint();
    if (tag === 2) pbf.readPackedVarint(into.keys);
    if (tag === 3) pbf.readPackedVarint(into.values);
    if (tag === 8) into.refs = pbf.readBytes();
  }, way);
  const refs = (): number[] => (way.refs === null ? [] : summed(way.refs));
  visitor.anyWay?.(way.id, refs);
  if (visitor.way === undefined) return;
  const tags = tagsOf(block, way.keys, way.values);
  if (tags !== null) visitor.way(way.id, tags, refs());
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

function readRelation(bytes: Uint8Array, block: Block, visitor: Visitor): void {
  if (visitor.relation === undefined) return;
  const relation = {
    ...{ id: 0, keys: [] as number[], values: [] as number[] },
    ...{ roles: [] as number[], ids: [] as number[], types: [] as number[] },
  };
  new PbfReader(bytes).readFields((tag, into, pbf) => {
    if (tag === 1) into.id = pbf.readVarint();
    if (tag === 2) pbf.readPackedVarint(into.keys);
    if (tag === 3) pbf.readPackedVarint(into.values);
    if (tag === 8) pbf.readPackedVarint(into.roles);
    if (tag === 9) pbf.readPackedSVarint(into.ids);
    if (tag === 10) pbf.readPackedVarint(into.types);
  }, relation);
  const tags = tagsOf(block, relation.keys, relation.values);
  if (tags === null) return;
  let id = 0;
  const members = relation.ids.map((step, n): Member => {
    id += step;
    const type = memberTypes[relation.types[n]!] ?? "relation";
    return { type, id, role: textOf(block, relation.roles[n]!) };
  });
  visitor.relation(relation.id, tags, members);
}
