import { setImmediate as nextTurn } from "node:timers/promises";
import { listTail, type ListRest } from "#snapshots/model/envelope.ts";
import { fragmentOf, type Source } from "#snapshots/model/block.ts";

/** Stations written per turn of the event loop. */
const perTurn = 256;
const lineFeed = Buffer.from("\n");

/** A GeoJSON FeatureCollection (RFC 7946) with the rest of the list envelope beside it, in pieces. */
export async function* featureCollection(
  sources: Iterable<Source>,
  rest: ListRest,
): AsyncGenerator<Buffer> {
  yield collectionHead;
  let comma = 1;
  for await (const piece of pieces(sources, writeFeatures)) {
    yield piece.subarray(comma);
    comma = 0;
  }
  yield listTail(rest);
}

/** A line of JSON for each station, in pieces. */
export const lines = (sources: Iterable<Source>): AsyncGenerator<Buffer> =>
  pieces(sources, writeLines);

/** Works in small turns, so that writing a whole country does not delay other requests. */
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

const writeLines = (sources: readonly Source[]): Buffer =>
  Buffer.concat(sources.flatMap(({ block, slot }) => [fragmentOf(block, slot), lineFeed]));

const collectionHead = Buffer.from('{"type":"FeatureCollection","features":[');

/** The beginning of a station's JSON. Neither an id nor a number contains a quote or a comma. */
const stationHead = /^\{("id":"[^"]*",)"lat":([^,]*),"lon":([^,]*),/;
/** Each feature begins with a comma; `featureCollection` cuts off the first. */
const featureHead =
  ',{"type":"Feature",$1"geometry":{"type":"Point","coordinates":[$3,$2]},"properties":{';

const writeFeatures = (sources: readonly Source[]): Buffer =>
  Buffer.from(
    sources
      .map(({ block, slot }) =>
        fragmentOf(block, slot).toString().replace(stationHead, featureHead),
      )
      .map((feature) => `${feature}}`)
      .join(""),
  );
