import { setImmediate as nextTurn } from "node:timers/promises";
import { listTail, type ListRest } from "#snapshots/model/envelope.ts";
import { field, read, type Source, startOf } from "#snapshots/model/block.ts";

/** Stations written per turn of the event loop. */
const perTurn = 256;
const comma = ",".charCodeAt(0);
const lineFeed = "\n".charCodeAt(0);

/** A GeoJSON FeatureCollection (RFC 7946) with the rest of the list envelope beside it, in pieces. */
export async function* featureCollection(
  sources: Iterable<Source>,
  rest: ListRest,
): AsyncGenerator<Buffer> {
  yield collectionHead;
  let before: Buffer | null = null;
  for await (const piece of pieces(sources, writeFeatures)) {
    if (before !== null) yield before;
    before = piece;
  }
  if (before !== null) yield before.subarray(0, -1);
  yield listTail(rest);
}

/** A line of JSON for each station, in pieces. */
export const lines = (sources: Iterable<Source>): AsyncGenerator<Buffer> =>
  pieces(sources, writeLines);

/** Works in small turns, so that a whole country does not hold up other callers. */
async function* pieces(
  sources: Iterable<Source>,
  write: (sources: readonly Source[]) => Buffer,
): AsyncGenerator<Buffer> {
  let turn: Source[] = [];
  for (const source of sources) {
    if (turn.push(source) < perTurn) continue;
    yield write(turn);
    turn = [];
    await nextTurn();
  }
  if (turn.length > 0) yield write(turn);
}

function writeLines(sources: readonly Source[]): Buffer {
  const into = Buffer.allocUnsafe(sizeOf(sources));
  let at = 0;
  for (const { block, slot } of sources) {
    at += block.body.read().copy(into, at, startOf(block, slot), read(block, slot, field.end));
    // Each station's bytes end with the comma of a list.
    into[at - 1] = lineFeed;
  }
  return into;
}

const collectionHead = Buffer.from('{"type":"FeatureCollection","features":[');
const featureHead = Buffer.from('{"type":"Feature",');
const beforeLon = Buffer.from('"geometry":{"type":"Point","coordinates":[');
const afterLat = Buffer.from(']},"properties":{');
const latName = '"lat":'.length;
const lonName = '"lon":'.length;

/** What a feature is longer than the JSON that it is cut from. */
const growth =
  featureHead.length +
  beforeLon.length +
  afterLat.length +
  "}".length -
  "{".length -
  ",".length -
  latName -
  lonName;

/** Cuts `{"id":…,"lat":…,"lon":…,rest},` at its first commas, none of which can stand in an id or a number. */
function writeFeatures(sources: readonly Source[]): Buffer {
  const into = Buffer.allocUnsafe(sizeOf(sources) + sources.length * growth);
  let at = 0;
  for (const { block, slot } of sources) {
    const bytes = block.body.read();
    const start = startOf(block, slot);
    const end = read(block, slot, field.end);
    const lat = bytes.indexOf(comma, start) + 1;
    const lon = bytes.indexOf(comma, lat) + 1;
    const rest = bytes.indexOf(comma, lon) + 1;
    at += featureHead.copy(into, at);
    at += bytes.copy(into, at, start + 1, lat);
    at += beforeLon.copy(into, at);
    at += bytes.copy(into, at, lon + lonName, rest);
    at += bytes.copy(into, at, lat + latName, lon - 1);
    at += afterLat.copy(into, at);
    at += bytes.copy(into, at, rest, end - 1);
    at += into.write("},", at, "latin1");
  }
  return into;
}

function sizeOf(sources: readonly Source[]): number {
  let size = 0;
  for (const { block, slot } of sources)
    size += read(block, slot, field.end) - startOf(block, slot);
  return size;
}
