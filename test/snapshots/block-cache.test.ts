import { expect } from "chai";
import { createBlockCache, type BlockBytes } from "#snapshots/model/block-cache.ts";

const size = 1000;
const filled = (n: number): Buffer => Buffer.alloc(size, `block ${n};`);

describe("block cache", () => {
  const holdAll = (plainBytes: number, count: number): BlockBytes[] => {
    const cache = createBlockCache(plainBytes);
    return Array.from({ length: count }, (_, n) =>
      cache.hold(size, false, (bytes) => void filled(n).copy(bytes)),
    );
  };
  const plainOf = (blocks: readonly BlockBytes[]): number[] =>
    blocks.flatMap((block, n) => (block.isPlain() ? [n] : []));

  it("deflates at once what there is no room for, and gives every block back as it was", () => {
    const blocks = holdAll(3 * size, 10);
    expect(plainOf(blocks)).to.deep.equal([0, 1, 2]);
    blocks.forEach((block, n) => expect(block.read().equals(filled(n))).to.equal(true));
  });

  it("holds what was read last plain, within its budget", () => {
    const blocks = holdAll(3 * size, 10);
    for (const n of [7, 8, 9]) blocks[n]!.read();
    expect(plainOf(blocks)).to.have.length(3);
    expect(blocks[9]!.isPlain()).to.equal(true);
  });

  it("makes room for what is warm", () => {
    const cache = createBlockCache(size);
    const first = cache.hold(size, true, (bytes) => void filled(1).copy(bytes));
    const second = cache.hold(size, true, (bytes) => void filled(2).copy(bytes));
    expect([first, second].filter((block) => block.isPlain())).to.have.length(1);
    expect(first.read().equals(filled(1)) && second.read().equals(filled(2))).to.equal(true);
  });

  it("does not count a block that was replaced, and still gives it back", () => {
    const cache = createBlockCache(size);
    const packed = createBlockCache(0).hold(size, false, (bytes) => void filled(3).copy(bytes));
    packed.release();
    expect(packed.read().equals(filled(3))).to.equal(true);
    const old = cache.hold(size, false, (bytes) => void filled(1).copy(bytes));
    old.release();
    const next = cache.hold(size, false, (bytes) => void filled(2).copy(bytes));
    expect(next.isPlain()).to.equal(true);
    expect(old.read().equals(filled(1))).to.equal(true);
  });
});
