import { expect } from "chai";
import { useEdge } from "#test/api/edge.ts";

type Corner = readonly [x: number, y: number];

/** decisions 15.42 */
describe("api: the land of a tile as a path", () => {
  const edge = useEdge();
  const open = (tile: string, headers: Record<string, string> = {}) =>
    fetch(`${edge.origin}/basemap/land/${tile}`, { headers });
  const ringsOf = async (tile: string): Promise<Corner[][]> => {
    const response = await open(tile);
    expect(response.status, tile).to.equal(200);
    return [...(await response.text()).matchAll(/M(\S+ \S+)l([^z]*)z/g)].map(([, first, rest]) => {
      let [x, y] = first!.split(" ").map(Number) as [number, number];
      const numbers = rest!.split(" ").map(Number);
      const ring: Corner[] = [[x, y]];
      for (let n = 0; n < numbers.length; n += 2) {
        x += numbers[n]!;
        y += numbers[n + 1]!;
        ring.push([x, y]);
      }
      return ring;
    });
  };
  /** As an SVG fills it: how often the rings go around the point. */
  const isLand = (rings: readonly Corner[][], x: number, y: number): boolean => {
    let turns = 0;
    for (const ring of rings) {
      for (const [n, [toX, toY]] of ring.entries()) {
        const [fromX, fromY] = ring.at(n - 1)!;
        if (fromY <= y === toY <= y) continue;
        const at = fromX + ((y - fromY) / (toY - fromY)) * (toX - fromX);
        if (at > x) turns += toY > fromY ? 1 : -1;
      }
    }
    return turns !== 0;
  };

  it("is all of the tile inland, nothing at sea, and both at a coast", async () => {
    // Around Moscow, the middle of the Pacific, and St Petersburg.
    const inland = await ringsOf("10/619/320");
    for (const at of [0, 1000, 4096]) expect(isLand(inland, at, 4096 - at)).to.equal(true);
    expect(await (await open("10/80/512")).text()).to.equal("");
    const coast = await ringsOf("7/74/37");
    const seen = [...grid()].map(([x, y]) => isLand(coast, x, y));
    expect(seen).to.include.members([true, false]);
  });

  it("is the same land in the tiles that are cut out of another, with some beyond their edges", async () => {
    const coast = await ringsOf("7/74/37");
    let [same, all] = [0, 0];
    for (const part of [0, 3, 5, 7]) {
      const cut = await ringsOf(`10/${74 * 8 + part}/${37 * 8 + 7 - part}`);
      for (const [x, y] of cut.flat()) {
        expect(x).to.be.within(-64, 4160);
        expect(y).to.be.within(-64, 4160);
      }
      for (const [x, y] of grid()) {
        all += 1;
        const [inX, inY] = [x / 8 + part * 512, y / 8 + (7 - part) * 512];
        same += Number(isLand(cut, x, y) === isLand(coast, inX, inY));
      }
    }
    // At the coast itself the two are rounded differently.
    expect(same / all).to.be.greaterThan(0.99);
  });

  it("is asked for again by its ETag", async () => {
    const first = await open("7/74/37");
    await first.text();
    const etag = first.headers.get("etag") ?? "";
    const again = await open("7/74/37", { "If-None-Match": etag });
    expect(again.status).to.equal(304);
  });

  for (const tile of ["11/0/0", "3/8/0", "3/0/-1", "3/0/x", "1/0/0.5"])
    it(`is refused where there is no tile: ${tile}`, async () => {
      expect((await open(tile)).status).to.equal(404);
    });
});

function* grid(): Generator<[number, number]> {
  for (let x = 37; x < 4096; x += 101) for (let y = 37; y < 4096; y += 101) yield [x, y];
}
