import { nothing, borrow } from "#snapshots/model/long-buffers.ts";

/**
 * The boundary between the JSON of two stations. It occurs nowhere else: quotes within a text are escaped, and no other
 * object begins with an id.
 */
const boundary = Buffer.from('},{"id":"');
const idFrom = '{"id":"'.length;
const latFrom = '"lat":'.length;
const lonFrom = '"lon":'.length;

const featureHead = Buffer.from('{"type":"Feature","id":"');
const geometryHead = Buffer.from('"geometry":{"type":"Point","coordinates":[');
const propertiesHead = Buffer.from(']},"properties":{');
/** Bytes that a feature has more than its station: the three heads and a brace, less the names of id, lat and lon. */
const longer =
  featureHead.length + geometryHead.length + propertiesHead.length + 1 - idFrom - latFrom - lonFrom;

const [quote, comma, brace, lineFeed] = [0x22, 0x2c, 0x7d, 0x0a];
const [letterP, letterS, nullWord] = [0x70, 0x73, 0x6e756c6c];
const pendingFrom = "pending_".length;
/** Bytes from `pending_status` to the end of a station, at least. */
const endMin = 84;

/**
 * Where the empty time of a station that ends here stands, or -1: before `,"pending_status`, to which the end is walked
 * back, however long it is. Readers that find out the types of columns take it for a text, so exports have null there
 * (decisions 17.8): less than a 32nd longer. A search of the whole text took 1 ms longer.
 */
function emptyTimeBefore(stations: Buffer, stop: number): number {
  let at = stop - endMin;
  // No other name or word after it begins with p and has an s there.
  while (
    stations[at] !== letterP ||
    stations[at - 1] !== quote ||
    stations[at + pendingFrom] !== letterS
  )
    if (--at < 0) return -1;
  return stations[at - 3] === quote && stations[at - 4] === quote ? at - 4 : -1;
}

/**
 * Stations, `{…},{…}` with or without a comma at the end, as GeoJSON features in the same way, between two texts.
 * Bytes are copied, because replacing by a pattern took three times as long: 4 ms for 4000 stations.
 */
export function writeFeatures(stations: Buffer, head = nothing, tail = nothing): Buffer {
  const room =
    stations.length + longer * (1 + countOf(stations, boundary)) + (stations.length >> 5);
  const out = borrow(head.length + room + tail.length);
  const end = stations.at(-1) === comma ? stations.length - 1 : stations.length;
  let to = 0;
  const put = (part: Buffer): void => {
    out.set(part, to);
    to += part.length;
  };
  /** Copies short text up to a byte that it does not hold; returns the place behind that byte. */
  const copyUntil = (stop: number, from: number): number => {
    let at = from;
    for (; stations[at] !== stop; at++) out[to++] = stations[at] as number;
    return at + 1;
  };
  put(head);
  for (let from = 0; from < end;) {
    const next = stations.indexOf(boundary, from);
    const stop = next < 0 ? end : next + 1;
    put(featureHead);
    // Neither an id nor a number contains a quote or a comma.
    const afterId = copyUntil(quote, from + idFrom);
    out[to++] = quote;
    out[to++] = comma;
    put(geometryHead);
    const lat = afterId + 1 + latFrom;
    const lon = stations.indexOf(comma, lat) + 1 + lonFrom;
    let rest = copyUntil(comma, lon);
    out[to++] = comma;
    copyUntil(comma, lat);
    put(propertiesHead);
    const empty = emptyTimeBefore(stations, stop);
    if (empty >= 0) {
      to += stations.copy(out, to, rest, empty);
      to = out.writeUInt32BE(nullWord, to);
      rest = empty + 2;
    }
    to += stations.copy(out, to, rest, stop);
    out[to++] = brace;
    if (stop < stations.length) out[to++] = comma;
    from = stop + 1;
  }
  put(tail);
  return out.subarray(0, to);
}

/** The same stations with line feeds in place of the commas between them and at their end, between two texts. */
export function writeLines(stations: Buffer, head = nothing, tail = nothing): Buffer {
  const room = head.length + (stations.length >> 5);
  const out = borrow(room + stations.length + tail.length);
  // They are copied behind the room, and moved to the front as far as it is used up.
  stations.copy(out, room);
  let [from, to] = [room, head.copy(out)];
  for (let at = 0; at >= 0;) {
    at = stations.indexOf(boundary, at + 1);
    const stop = at >= 0 ? at + 1 : stations.length - (stations.at(-1) === comma ? 1 : 0);
    out[room + stop] = lineFeed;
    const empty = room + emptyTimeBefore(stations, stop);
    if (empty < room) continue;
    out.copyWithin(to, from, empty);
    to = out.writeUInt32BE(nullWord, to + empty - from);
    from = empty + 2;
  }
  out.copyWithin(to, from, room + stations.length);
  to += room + stations.length - from;
  return out.subarray(0, to + tail.copy(out, to));
}

function countOf(text: Buffer, part: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count++;
  return count;
}
