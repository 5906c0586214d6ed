import type { Station } from "#snapshots/station.ts";

/**
 * A few stations of one neighbourhood, immutable: a change makes a new page, and an answer in flight
 * keeps the old one. `bytes` is the JSON of its stations, each followed by a comma, so that any run of
 * stations, and any row of pages, is one piece of a JSON array.
 */
export interface Page {
  stations: readonly Station[];
  /** lat, lon of each station. */
  coordinates: Float64Array;
  /** One record of `recordSize` numbers per station; see `field`. */
  records: Uint32Array;
  bytes: Buffer;
  /** Searchable text of the stations, each ended by a line feed. */
  text: Buffer;
}

export const field = {
  /** End of the station's JSON in `bytes`, its comma included. */
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
} as const;
export const recordSize = 9;

/** One station of a page: what a new page is put together from. */
export interface Source {
  page: Page;
  slot: number;
}

/** Number `which` of the record of the station at `slot`. */
export const read = (page: Page, slot: number, which: number): number =>
  page.records[slot * recordSize + which] as number;

/** Start of the station's JSON in `bytes`. */
export const startOf = (page: Page, slot: number): number =>
  slot === 0 ? 0 : read(page, slot - 1, field.end);

/** The station's JSON without its comma, as a view on the page's bytes. */
export const fragmentOf = (page: Page, slot: number): Buffer =>
  page.bytes.subarray(startOf(page, slot), read(page, slot, field.end) - 1);

const textStart = (page: Page, slot: number): number =>
  slot === 0 ? 0 : read(page, slot - 1, field.textEnd);

/** A new page of the given stations, in their order, with their bytes copied. */
export function joinPage(sources: readonly Source[]): Page {
  let size = 0;
  let textSize = 0;
  for (const { page, slot } of sources) {
    size += read(page, slot, field.end) - startOf(page, slot);
    textSize += read(page, slot, field.textEnd) - textStart(page, slot);
  }
  const joined: Page = {
    stations: sources.map(({ page, slot }) => page.stations[slot] as Station),
    coordinates: new Float64Array(sources.length * 2),
    records: new Uint32Array(sources.length * recordSize),
    // Not from the shared pool: a pooled slice would keep its neighbours alive.
    bytes: Buffer.allocUnsafeSlow(size),
    text: Buffer.allocUnsafeSlow(textSize),
  };
  for (let to = 0; to < sources.length;) {
    const { page, slot } = sources[to] as Source;
    let length = 1;
    while (sources[to + length]?.page === page && sources[to + length]?.slot === slot + length)
      length++;
    copyRun(page, slot, joined, to, length);
    to += length;
  }
  return joined;
}

/** Copies `length` neighbours at once: most of a changed page is what it was. */
function copyRun(from: Page, slot: number, into: Page, to: number, length: number): void {
  const last = slot + length - 1;
  const start = startOf(from, slot);
  const text = textStart(from, slot);
  const at = startOf(into, to);
  const textAt = textStart(into, to);
  from.bytes.copy(into.bytes, at, start, read(from, last, field.end));
  from.text.copy(into.text, textAt, text, read(from, last, field.textEnd));
  into.coordinates.set(from.coordinates.subarray(slot * 2, (last + 1) * 2), to * 2);
  const records = from.records.subarray(slot * recordSize, (last + 1) * recordSize);
  into.records.set(records, to * recordSize);
  for (let i = to; i < to + length; i++) {
    const record = i * recordSize;
    into.records[record + field.end] = read(into, i, field.end) - start + at;
    into.records[record + field.textEnd] = read(into, i, field.textEnd) - text + textAt;
  }
}
