import type { PageBytes, PageShelf } from "#snapshots/model/block-shelf.ts";

/**
 * A few stations of one neighbourhood, immutable: a change makes a new page, and an answer in flight
 * keeps the old one. Its body begins with the JSON of its stations, each followed by a comma, so that any run of
 * stations, and any row of pages, is one piece of a JSON array.
 */
export interface Page extends Columns {
  /**
   * What a search does not look at, and what may be held deflated: the JSON, then of those stations that have such
   * what time alone will still change (see state-text.ts).
   */
  body: PageBytes;
  /** Bytes of the JSON. */
  size: number;
}

interface Columns {
  /** Numbers of the stations. */
  stations: Uint32Array;
  /** lat, lon of each station. */
  coordinates: Float64Array;
  /** One record of `recordSize` numbers per station; see `field`. */
  records: Uint32Array;
  /** Searchable text of the stations, each ended by a line feed. */
  text: Buffer;
}

export const field = {
  /** End of the station's JSON in the body, its comma included. */
  end: 0,
  /** Where its `fuel` value begins, counted from its own start. */
  fuel: 1,
  /** Three lanes of the digest of its JSON. */
  hash: 2,
  /** status | grades << 3 | queue << 8 | priced << 11. */
  flags: 5,
  /** Served `updated`, seconds since the epoch; 0 when never set. */
  updatedS: 6,
  /** Number of its brand in the model's brand table. */
  brand: 7,
  /** End of its text in `text`. */
  textEnd: 8,
  /** End of its state in `states`. */
  stateEnd: 9,
} as const;
export const recordSize = 10;

/** One station of a page. */
export interface Source {
  page: Page;
  slot: number;
}

/**
 * A station newly rendered, not yet in a page. Its parts are strings: bytes outside the heap, for a moment's use, would
 * be given back long after.
 */
export interface Rendered {
  station: number;
  lat: number;
  lon: number;
  /** Its JSON and a comma. */
  json: string;
  text: string;
  state: string;
  /** Its record, but for the ends of the parts. */
  record: readonly number[];
}

/** What a new page is put together from. */
export type Piece = Source | Rendered;

const isRendered = (piece: Piece): piece is Rendered => "json" in piece;

/** Number `which` of the record of the station at `slot`. */
export const read = (page: Columns, slot: number, which: number): number =>
  page.records[slot * recordSize + which] as number;

/** Start of what ends at the field `which` of the station at `slot`. */
const startIn = (page: Columns, slot: number, which: number): number =>
  slot === 0 ? 0 : read(page, slot - 1, which);

/** Start of the station's JSON in the body. */
export const startOf = (page: Page, slot: number): number => startIn(page, slot, field.end);

/** The station's JSON without its comma, as a view on the page's bytes. */
export const fragmentOf = (page: Page, slot: number): Buffer =>
  page.body.read().subarray(startOf(page, slot), read(page, slot, field.end) - 1);

/** The station's searchable text. */
export const textOf = (page: Page, slot: number): string =>
  page.text.toString("utf8", startIn(page, slot, field.textEnd), read(page, slot, field.textEnd));

/** What time alone will still change of the station (see state-text.ts); "" when that is nothing. */
export const stateOf = (page: Page, slot: number): string =>
  page.body
    .read()
    .toString(
      "utf8",
      page.size + startIn(page, slot, field.stateEnd),
      page.size + read(page, slot, field.stateEnd),
    );

/** A new page of the given stations, in their order, with their bytes copied; `warm` when it is likely to be read. */
export function joinPage(pieces: readonly Piece[], shelf: PageShelf, warm: boolean): Page {
  const [size, textSize, stateSize] = sizesOf(pieces);
  const columns = columnsFor(pieces.length, textSize);
  const body = shelf.hold(size + stateSize, warm, (bytes) =>
    writePieces(pieces, {
      ...columns,
      bytes: bytes.subarray(0, size),
      states: bytes.subarray(size),
    }),
  );
  // No getters: they would give every page a shape of its own, and all that reads pages would be slow.
  return { ...columns, body, size };
}

/** The JSON of all stations of the page, each followed by a comma. */
export const jsonOf = (page: Page): Buffer => page.body.read().subarray(0, page.size);

function writePieces(pieces: readonly Piece[], into: Draft): void {
  for (let to = 0; to < pieces.length;) {
    const piece = pieces[to] as Piece;
    if (isRendered(piece)) {
      write(piece, into, to++);
      continue;
    }
    const { page, slot } = piece;
    let length = 1;
    for (; to + length < pieces.length; length++) {
      const next = pieces[to + length] as Piece;
      if (isRendered(next) || next.page !== page || next.slot !== slot + length) break;
    }
    copyRun(page, slot, into, to, length);
    to += length;
  }
}

/** All in one allocation: each array of its own costs several hundred bytes more than what is in it. */
function columnsFor(count: number, textSize: number): Columns {
  const numbers = count * (2 * 8 + recordSize * 4 + 4);
  const store = new ArrayBuffer(numbers + textSize);
  return {
    coordinates: new Float64Array(store, 0, count * 2),
    records: new Uint32Array(store, count * 16, count * recordSize),
    stations: new Uint32Array(store, numbers - count * 4, count),
    text: Buffer.from(store, numbers, textSize),
  };
}

/** A page that is being written. */
interface Draft extends Columns {
  bytes: Buffer;
  states: Buffer;
}

function sizesOf(pieces: readonly Piece[]): [json: number, text: number, states: number] {
  let [json, text, states] = [0, 0, 0];
  for (const piece of pieces)
    if (isRendered(piece)) {
      json += Buffer.byteLength(piece.json);
      text += Buffer.byteLength(piece.text);
      states += Buffer.byteLength(piece.state);
    } else {
      const { page, slot } = piece;
      json += read(page, slot, field.end) - startOf(page, slot);
      text += read(page, slot, field.textEnd) - startIn(page, slot, field.textEnd);
      states += read(page, slot, field.stateEnd) - startIn(page, slot, field.stateEnd);
    }
  return [json, text, states];
}

function write(piece: Rendered, into: Draft, to: number): void {
  into.stations[to] = piece.station;
  into.coordinates[to * 2] = piece.lat;
  into.coordinates[to * 2 + 1] = piece.lon;
  const at = to * recordSize;
  for (let i = 0; i < recordSize; i++) into.records[at + i] = piece.record[i] ?? 0;
  writePart(into, to, field.end, piece.json, into.bytes);
  writePart(into, to, field.textEnd, piece.text, into.text);
  writePart(into, to, field.stateEnd, piece.state, into.states);
}

function writePart(into: Columns, to: number, which: number, part: string, target: Buffer): void {
  const start = startIn(into, to, which);
  into.records[to * recordSize + which] = start + target.write(part, start);
}

/** Copies `length` neighbours at once: most of a changed page is what it was. */
function copyRun(from: Page, slot: number, into: Draft, to: number, length: number): void {
  const end = slot + length;
  into.stations.set(from.stations.subarray(slot, end), to);
  into.coordinates.set(from.coordinates.subarray(slot * 2, end * 2), to * 2);
  into.records.set(from.records.subarray(slot * recordSize, end * recordSize), to * recordSize);
  const run = { from, slot, end, into, to };
  const source = from.body.read();
  copyPart(run, field.end, source, into.bytes);
  copyPart(run, field.textEnd, from.text, into.text);
  copyPart(run, field.stateEnd, source.subarray(from.size), into.states);
}

interface Run {
  from: Columns;
  slot: number;
  end: number;
  into: Columns;
  to: number;
}

function copyPart(run: Run, which: number, source: Buffer, target: Buffer): void {
  const { from, slot, end, into, to } = run;
  const start = startIn(from, slot, which);
  const at = startIn(into, to, which);
  source.copy(target, at, start, read(from, end - 1, which));
  for (let i = to; i < to + end - slot; i++)
    into.records[i * recordSize + which] = read(into, i, which) - start + at;
}
