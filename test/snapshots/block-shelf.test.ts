import { expect } from "chai";
import { createPageShelf, type PageBytes } from "#snapshots/model/block-shelf.ts";

const size = 1000;
const filled = (n: number): Buffer => Buffer.alloc(size, `page ${n};`);

describe("page shelf", () => {
  const holdAll = (plainBytes: number, count: number): PageBytes[] => {
    const shelf = createPageShelf(plainBytes);
    return Array.from({ length: count }, (_, n) =>
      shelf.hold(size, false, (bytes) => void filled(n).copy(bytes)),
    );
  };
  const plainOf = (pages: readonly PageBytes[]): number[] =>
    pages.flatMap((page, n) => (page.isPlain() ? [n] : []));

  it("deflates at once what there is no room for, and gives every page back as it was", () => {
    const pages = holdAll(3 * size, 10);
    expect(plainOf(pages)).to.deep.equal([0, 1, 2]);
    pages.forEach((page, n) => expect(page.read().equals(filled(n))).to.equal(true));
  });

  it("holds what was read last plain, within its budget", () => {
    const pages = holdAll(3 * size, 10);
    for (const n of [7, 8, 9]) pages[n]!.read();
    expect(plainOf(pages)).to.have.length(3);
    expect(pages[9]!.isPlain()).to.equal(true);
  });

  it("makes room for what is warm", () => {
    const shelf = createPageShelf(size);
    const first = shelf.hold(size, true, (bytes) => void filled(1).copy(bytes));
    const second = shelf.hold(size, true, (bytes) => void filled(2).copy(bytes));
    expect([first, second].filter((page) => page.isPlain())).to.have.length(1);
    expect(first.read().equals(filled(1)) && second.read().equals(filled(2))).to.equal(true);
  });

  it("does not count a page that was replaced, and still gives it back", () => {
    const shelf = createPageShelf(size);
    const packed = createPageShelf(0).hold(size, false, (bytes) => void filled(3).copy(bytes));
    packed.release();
    expect(packed.read().equals(filled(3))).to.equal(true);
    const old = shelf.hold(size, false, (bytes) => void filled(1).copy(bytes));
    old.release();
    const next = shelf.hold(size, false, (bytes) => void filled(2).copy(bytes));
    expect(next.isPlain()).to.equal(true);
    expect(old.read().equals(filled(1))).to.equal(true);
  });
});
