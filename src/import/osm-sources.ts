import { stat } from "node:fs/promises";
import { isRecord, jsonItems } from "#src/import/json-items.ts";
import { readBlock, type Wanted } from "#src/import/osm-block.ts";
import { mayBeStation, type OsmSource, rereading, withPlaces } from "#src/import/osm-elements.ts";
import { type BlockPlace, openOsmFile, type OsmFile } from "#src/import/osm-file.ts";
import type { FileRecord, FileSpec } from "#src/import/records.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";
import { type XmlValue, xmlElements } from "#src/import/xml-elements.ts";

/** The objects with tags in Overpass JSON. Those without are parts of others. */
export function overpassJson(
  path: string,
  spec: FileSpec,
  progress: ReadProgress,
): AsyncGenerator<FileRecord[]> {
  const again = (): void => undefined;
  const hasTags = ({ tags }: FileRecord["value"]): boolean =>
    isRecord(tags) && Object.keys(tags).length > 0;
  const read = (pass: number) => jsonItems(path, "elements", spec, pass === 0 ? progress : again);
  return withPlaces(rereading(read, hasTags));
}

/** The stations of an extract of OpenStreetMap in XML (`.osm`). */
export async function* osmXml(
  path: string,
  spec: FileSpec,
  progress: ReadProgress,
): AsyncGenerator<FileRecord[]> {
  const passes = inPasses((await stat(path)).size, progress);
  let objects = 0;
  const read = async function* (pass: number): AsyncGenerator<FileRecord[]> {
    for await (const { name, line, value } of xmlElements(path, "osm.*", spec, passes(pass))) {
      if (typeof value === "string" || !/^(node|way|relation)$/.test(name)) continue;
      objects += 1;
      yield [{ place: `line ${line}`, value: fromXml(name, value) }];
    }
  };
  yield* withPlaces(rereading(read, ({ tags }) => mayBeStation(tags)));
  if (objects === 0) throw wrongFile("it holds no objects of OpenStreetMap", advice.kind);
}

/** Progress of up to three readings of a file: the first one is half of the work. */
const inPasses =
  (size: number, progress: ReadProgress) =>
  (pass: number): ReadProgress =>
  (bytes) =>
    progress(pass === 0 ? bytes / 2 : size / 4 + (size * pass) / 4 + bytes / 4);

function fromXml(type: string, value: XmlValue): FileRecord["value"] {
  const list = (name: string): XmlValue[] => [value[name] ?? []].flat().filter(isRecord);
  const tags = Object.fromEntries(list("tag").map((tag) => [String(tag["@k"]), tag["@v"]]));
  const id = Number(value["@id"]);
  if (type === "node")
    return { type, id, lat: Number(value["@lat"]), lon: Number(value["@lon"]), tags };
  const [center] = list("center").map((one) => {
    return { lat: Number(one["@lat"]), lon: Number(one["@lon"]) };
  });
  const place = center === undefined ? {} : { center };
  if (type === "way")
    return { type, id, tags, ...place, nodes: list("nd").map((nd) => Number(nd["@ref"])) };
  const members = list("member").map((one) => ({ type: one["@type"], ref: Number(one["@ref"]) }));
  return { type, id, tags, ...place, members };
}

/** The stations of an extract of OpenStreetMap in PBF; one block of the file is in memory at a time. */
export async function* osmPbf(path: string, progress: ReadProgress): AsyncGenerator<FileRecord[]> {
  const file = await openOsmFile(path);
  try {
    yield* withPlaces(pbfSource(file, inPasses(file.size, progress)));
  } finally {
    await file.close();
  }
}

function pbfSource(file: OsmFile, passes: (pass: number) => ReadProgress): OsmSource {
  const places: Record<"node" | "way", BlockPlace[]> = { node: [], way: [] };
  /** Of the blocks with such objects, those of these ids. */
  const some = async function* (
    type: "node" | "way",
    pass: number,
    ids: ReadonlySet<number>,
  ): AsyncGenerator<FileRecord[]> {
    for await (const content of file.some(places[type], passes(pass)))
      yield inBlock(content, { ids: { [type]: ids } }).found;
  };
  return {
    async *stations() {
      for await (const [place, content] of file.all(passes(0))) {
        const { held, found } = inBlock(content, { value: "fuel" });
        for (const type of ["node", "way"] as const) if (held.has(type)) places[type].push(place);
        yield found.filter(({ value }) => mayBeStation(value["tags"]));
      }
    },
    ways: (ids) => some("way", 1, ids),
    nodes: (ids) => some("node", 2, ids),
  };
}

function inBlock(content: Uint8Array, wanted: Wanted) {
  try {
    const { held, found } = readBlock(content, wanted);
    return {
      held,
      found: found.map((value) => ({ place: `${value["type"]} ${value["id"]}`, value })),
    };
  } catch {
    throw wrongFile("one of its blocks cannot be read", advice.cut);
  }
}
