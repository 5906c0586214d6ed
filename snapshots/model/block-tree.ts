import type { Box } from "#src/domain/geo.ts";
import { type Region, inside, outside } from "#snapshots/model/area.ts";
import { addStation, type Block, emptySum, isKnown, type Sum } from "#snapshots/model/block.ts";

/** A fixed position in the tree; its block is replaced at every change. */
export interface Leaf {
  block: Block;
  /** South, west, north, east of its stations. */
  box: Float64Array;
  sum: Sum;
  /** How many of its stations serve a status. */
  known: number;
  /** Index among the leaves. */
  index: number;
}

/** A block with its rectangle and sum, computed once for each block. */
export function measured(block: Block): Omit<Leaf, "index"> {
  const sum = emptySum();
  let known = 0;
  for (let slot = 0; slot < block.stations.length; slot++) {
    addStation(sum, block, slot);
    if (isKnown(block, slot)) known += 1;
  }
  return { block, box: boxOf(block), sum, known };
}

function boxOf({ coordinates }: Block): Float64Array {
  let [south, west, north, east] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < coordinates.length; i += 2) {
    const lat = coordinates[i] as number;
    const lon = coordinates[i + 1] as number;
    if (lat < south) south = lat;
    if (lon < west) west = lon;
    if (lat > north) north = lat;
    if (lon > east) east = lon;
  }
  return Float64Array.of(south, west, north, east);
}

export type BlockTree = ReturnType<typeof createBlockTree>;

/**
 * Rectangles, counts and sums over the blocks as an implicit binary tree: node n has children 2n and 2n + 1,
 * leaf i is node `width + i`. The blocks stand in kd order, so a node is a compact neighbourhood.
 */
export function createBlockTree() {
  let leaves: Leaf[] = [];
  let width = 1;
  let boxes = new Float64Array(8);
  let counts = new Uint32Array(2);
  let sums = new Uint32Array(6);

  const fromLeaf = (node: number, leaf: Leaf): void => {
    boxes.set(leaf.box, node * 4);
    counts[node] = leaf.block.stations.length;
    sums.set(leaf.sum, node * 3);
  };

  const fromChildren = (node: number): void => {
    const [a, b] = [node * 2, node * 2 + 1];
    for (let i = 0; i < 4; i++) {
      const [x, y] = [boxes[a * 4 + i] as number, boxes[b * 4 + i] as number];
      boxes[node * 4 + i] = i < 2 ? Math.min(x, y) : Math.max(x, y);
    }
    counts[node] = (counts[a] as number) + (counts[b] as number);
    for (let i = 0; i < 3; i++)
      sums[node * 3 + i] = (sums[a * 3 + i] as number) + (sums[b * 3 + i] as number);
  };

  const sumOf = (node: number): Sum => sums.slice(node * 3, node * 3 + 3);

  /** By how many degrees the node's rectangle grows when it takes in a point. */
  const growth = (node: number, lat: number, lon: number): number => {
    if (counts[node] === 0) return Infinity;
    const edge = (side: number): number => boxes[node * 4 + side] as number;
    return Math.max(edge(0) - lat, 0, lat - edge(2)) + Math.max(edge(1) - lon, 0, lon - edge(3));
  };

  return {
    leaves: (): readonly Leaf[] => leaves,
    /** Takes a new list of leaves, in kd order. O(blocks). */
    rebuild(newLeaves: Leaf[]): void {
      leaves = newLeaves;
      width = 1;
      while (width < leaves.length) width *= 2;
      boxes = new Float64Array(width * 8);
      counts = new Uint32Array(width * 2);
      sums = new Uint32Array(width * 6);
      for (let i = 0; i < width; i++) {
        const leaf = leaves[i];
        if (leaf === undefined)
          boxes.set([Infinity, Infinity, -Infinity, -Infinity], (width + i) * 4);
        else {
          leaf.index = i;
          fromLeaf(width + i, leaf);
        }
      }
      for (let node = width - 1; node >= 1; node--) fromChildren(node);
    },
    /** Updates the tree after a leaf got a new block. O(log blocks). */
    refresh(leaf: Leaf): void {
      let node = width + leaf.index;
      fromLeaf(node, leaf);
      for (node >>= 1; node >= 1; node >>= 1) fromChildren(node);
    },
    /** The leaf that grows least by taking in a point; undefined when the tree is empty. */
    nearest(lat: number, lon: number): Leaf | undefined {
      if (leaves.length === 0) return undefined;
      let node = 1;
      while (node < width)
        node = node * 2 + (growth(node * 2 + 1, lat, lon) < growth(node * 2, lat, lon) ? 1 : 0);
      return leaves[node - width];
    },
    /** True when the point lies in the leaf's own rectangle. */
    contains: (leaf: Leaf, lat: number, lon: number): boolean =>
      growth(width + leaf.index, lat, lon) === 0,
    /** How many stations serve a status. O(blocks): for once in some seconds. */
    known: (): number => leaves.reduce((all, { known }) => all + known, 0),
    count: (): number => (leaves.length === 0 ? 0 : (counts[1] as number)),
    /** The rectangle around all stations; null without any. */
    box(): Box | null {
      if (leaves.length === 0 || counts[1] === 0) return null;
      const [south, west, north, east] = boxes.subarray(4, 8) as unknown as [
        ...[south: number, west: number, north: number, east: number],
      ];
      return { south, west, north, east };
    },
    sum: (): Sum => (leaves.length === 0 ? emptySum() : sumOf(1)),
    /**
     * Visits the blocks that touch the region. For a subtree that lies inside, calls `whole` first with its count and
     * sum, and then visits its blocks as `covered`. `box` is south, west, north, east of a block's stations.
     */
    walk(
      region: Region,
      whole: (count: number, sum: Sum) => void,
      visit: (block: Block, covered: boolean, box: Float64Array) => void,
    ): void {
      const show = ({ block, box }: Leaf, covered: boolean): void => visit(block, covered, box);
      const descend = (node: number, first: number, span: number): void => {
        if (counts[node] === 0) return;
        const at = node * 4;
        const relation = region.relate(
          boxes[at] as number,
          boxes[at + 1] as number,
          boxes[at + 2] as number,
          boxes[at + 3] as number,
        );
        if (relation === outside) return;
        if (relation === inside) {
          whole(counts[node] as number, sumOf(node));
          const end = Math.min(first + span, leaves.length);
          for (let i = first; i < end; i++) show(leaves[i] as Leaf, true);
          return;
        }
        if (span === 1) return show(leaves[first] as Leaf, false);
        descend(node * 2, first, span / 2);
        descend(node * 2 + 1, first + span / 2, span / 2);
      };
      if (leaves.length > 0) descend(1, 0, width);
    },
  };
}
