import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { type Element, readBlock } from "#src/import/osm-block.ts";
import { openOsmFile } from "#src/import/osm-file.ts";
import { osmExtract, type OsmObjects } from "#test/harness/osm-extract.ts";

const id = fc.integer({ min: 1, max: 2 ** 40 });
const text = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
const tags = fc.dictionary(text, text, { maxKeys: 4, noNullPrototype: true });
const coordinate = (most: number): fc.Arbitrary<number> =>
  fc.integer({ min: -most * 1e7, max: most * 1e7 }).map((units) => units / 1e7);
const role = fc.constantFrom("outer", "inner", "");
const memberType = fc.constantFrom("node" as const, "way" as const, "relation" as const);
const objects: fc.Arbitrary<OsmObjects> = fc.record({
  nodes: fc.array(fc.record({ id, lon: coordinate(180), lat: coordinate(85), tags }), {
    minLength: 1,
  }),
  ways: fc.array(fc.record({ id, refs: fc.array(id), tags })),
  relations: fc.array(
    fc.record({ id, tags, members: fc.array(fc.record({ type: memberType, id, role })) }),
  ),
});

/** Everything that carries the value that is asked for, and all nodes again by their ids. */
async function readAll(path: string): Promise<Record<string, Element[]>> {
  const all: Element[] = [];
  const file = await openOsmFile(path);
  for await (const [, content] of file.all(() => undefined)) {
    const { found } = readBlock(content, { value: "asked for" });
    const nodes = found.filter(({ type }) => type === "node");
    const ids = new Set(nodes.map(({ id: own }) => own as number));
    expect(readBlock(content, { ids: { node: ids } }).found).to.deep.equal(nodes);
    all.push(...found);
  }
  await file.close();
  const of = (kind: string) =>
    all.flatMap(({ type, ...object }) => (type === kind ? [object] : []));
  return { nodes: of("node"), ways: of("way"), relations: of("relation") };
}

describe("import: extracts of OpenStreetMap in PBF", () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(join(tmpdir(), "fuelmark-osm-"))));
  after(() => rm(folder, { recursive: true, force: true }));

  it("are read as they were written, packed or plain", async () => {
    const path = join(folder, "some.osm.pbf");
    await fc.assert(
      fc.asyncProperty(objects, fc.boolean(), async (given, plain) => {
        const asked = <T extends { tags?: Record<string, string> }>(all: T[] = []): T[] =>
          all.map((one) => ({ ...one, tags: { ...one.tags, asked: "asked for" } }));
        const { nodes, ways, relations } = given;
        const written = { nodes: asked(nodes), ways: asked(ways), relations: asked(relations) };
        await writeFile(path, osmExtract(written, plain));
        expect(await readAll(path)).to.deep.equal({
          nodes: written.nodes,
          ways: written.ways.map(({ refs, ...way }) => ({ ...way, nodes: refs })),
          relations: written.relations.map(({ members, ...relation }) => ({
            ...relation,
            members: members.map(({ type, id: ref }) => ({ type, ref })),
          })),
        });
      }),
      { numRuns: 40 },
    );
  });
});
