import { deflateSync } from "node:zlib";
import { PbfWriter } from "pbf";

type Tags = Record<string, string>;

/** Objects of OpenStreetMap as a test names them; coordinates in degrees. */
export interface OsmObjects {
  nodes: { id: number; lon: number; lat: number; tags?: Tags }[];
  ways?: { id: number; refs: number[]; tags?: Tags }[];
  relations?: {
    id: number;
    tags: Tags;
    members: { type: "node" | "way" | "relation"; id: number; role: string }[];
  }[];
}

const memberTypes = { node: 0, way: 1, relation: 2 } as const;
/** As in the extracts that people download. */
const perBlock = 8000;

/**
 * An extract in the PBF format as osmium writes it: nodes, ways and relations in blocks of their own, nodes in columns.
 *
 * @param plain nodes one by one and blocks without compression, as the format also allows
 */
export function osmExtract(objects: OsmObjects, plain = false): Buffer {
  const header = new PbfWriter();
  for (const feature of ["OsmSchema-V0.6", "DenseNodes"]) header.writeStringField(4, feature);
  const { nodes, ways = [], relations = [] } = objects;
  return Buffer.concat([
    blockOf("OSMHeader", header.finish(), plain),
    ...pieces(nodes).map((some) => data((strings) => groupOfNodes(some, strings, plain), plain)),
    ...pieces(ways).map((some) => data((strings) => groupOfWays(some, strings), plain)),
    ...pieces(relations).map((some) => data((strings) => groupOfRelations(some, strings), plain)),
  ]);
}

const pieces = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / perBlock) }, (_, n) =>
    all.slice(n * perBlock, (n + 1) * perBlock),
  );

/** A block of the file: the length of its header, the header, the content. */
export function blockOf(type: string, content: Uint8Array, plain = false): Buffer {
  const blob = new PbfWriter();
  if (plain) blob.writeBytesField(1, content);
  else {
    blob.writeVarintField(2, content.length);
    blob.writeBytesField(3, deflateSync(content));
  }
  const body = blob.finish();
  const header = new PbfWriter();
  header.writeStringField(1, type);
  header.writeVarintField(3, body.length);
  const head = header.finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, body]);
}

// pbf's own writer garbles letters beyond U+1FFFF.
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

type Strings = (text: string) => number;

function data(group: (strings: Strings) => Uint8Array, plain: boolean): Buffer {
  // The first string is empty: 0 ends the tags of a node.
  const table = new Map<string, number>([["", 0]]);
  const content = group((text) => {
    if (!table.has(text)) table.set(text, table.size);
    return table.get(text)!;
  });
  const block = new PbfWriter();
  block.writeMessage(
    1,
    (all: string[], pbf) => all.forEach((one) => pbf.writeBytesField(1, utf8(one))),
    [...table.keys()],
  );
  block.writeBytesField(2, content);
  return blockOf("OSMData", block.finish(), plain);
}

const raw = (degrees: number): number => Math.round(degrees * 1e7);
const steps = (values: readonly number[]): number[] =>
  values.map((value, n) => value - (values[n - 1] ?? 0));
const pairs = (tags: Tags = {}): [string, string][] => Object.entries(tags);

function groupOfNodes(nodes: OsmObjects["nodes"], strings: Strings, plain: boolean): Uint8Array {
  const group = new PbfWriter();
  if (plain) {
    for (const { id, lon, lat, tags } of nodes) {
      const node = new PbfWriter();
      node.writeSVarintField(1, id);
      writeTags(node, tags, strings);
      node.writeSVarintField(8, raw(lat));
      node.writeSVarintField(9, raw(lon));
      group.writeBytesField(1, node.finish());
    }
    return group.finish();
  }
  const dense = new PbfWriter();
  dense.writePackedSVarint(1, steps(nodes.map(({ id }) => id)));
  dense.writePackedSVarint(8, steps(nodes.map(({ lat }) => raw(lat))));
  dense.writePackedSVarint(9, steps(nodes.map(({ lon }) => raw(lon))));
  const tags = nodes.flatMap((node) => [...pairs(node.tags).flat().map(strings), 0]);
  dense.writePackedVarint(10, tags);
  group.writeBytesField(2, dense.finish());
  return group.finish();
}

function writeTags(pbf: PbfWriter, tags: Tags | undefined, strings: Strings): void {
  pbf.writePackedVarint(
    2,
    pairs(tags).map(([key]) => strings(key)),
  );
  pbf.writePackedVarint(
    3,
    pairs(tags).map(([, value]) => strings(value)),
  );
}

function groupOfWays(ways: NonNullable<OsmObjects["ways"]>, strings: Strings): Uint8Array {
  const group = new PbfWriter();
  for (const { id, refs, tags } of ways) {
    const way = new PbfWriter();
    way.writeVarintField(1, id);
    writeTags(way, tags, strings);
    way.writePackedSVarint(8, steps(refs));
    group.writeBytesField(3, way.finish());
  }
  return group.finish();
}

function groupOfRelations(
  relations: NonNullable<OsmObjects["relations"]>,
  strings: Strings,
): Uint8Array {
  const group = new PbfWriter();
  for (const { id, tags, members } of relations) {
    const relation = new PbfWriter();
    relation.writeVarintField(1, id);
    writeTags(relation, tags, strings);
    relation.writePackedVarint(
      8,
      members.map(({ role }) => strings(role)),
    );
    relation.writePackedSVarint(9, steps(members.map((member) => member.id)));
    relation.writePackedVarint(
      10,
      members.map(({ type }) => memberTypes[type]),
    );
    group.writeBytesField(4, relation.finish());
  }
  return group.finish();
}
