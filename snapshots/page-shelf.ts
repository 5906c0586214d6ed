import { constants, deflateRawSync, inflateRawSync } from "node:zlib";

/** The JSON of a page, plain or, when nobody has read it for long, deflated. */
export interface PageBytes {
  /** Valid for good, also after the page has been replaced. */
  read(): Buffer;
  /** To be called once the page is replaced by another: it does not count any more. */
  release(): void;
}

/** Holds the bytes of pages: up to `plainBytes` of them plain, those read last. */
export interface PageShelf {
  hold(bytes: Buffer): PageBytes;
}

interface Entry {
  plain: Buffer | null;
  packed: Buffer | null;
  size: number;
  /** Read since the search for what to pack last came past. */
  recent: boolean;
  released: boolean;
}

export function createPageShelf(plainBytes: number): PageShelf {
  const plain = new Set<Entry>();
  let total = 0;

  /** Second chance: what was read since the last time goes to the back of the queue. */
  const shrink = (): void => {
    for (const entry of plain) {
      if (total <= plainBytes) return;
      plain.delete(entry);
      if (entry.recent) {
        entry.recent = false;
        plain.add(entry);
        continue;
      }
      // A page never changes, so it is packed once, however often it is read again.
      entry.packed ??= pack(entry.plain as Buffer);
      entry.plain = null;
      total -= entry.size;
    }
  };

  const show = (entry: Entry, bytes: Buffer): void => {
    entry.plain = bytes;
    plain.add(entry);
    total += entry.size;
    if (total > plainBytes) shrink();
  };

  const read = (entry: Entry): Buffer => {
    entry.recent = true;
    if (entry.plain !== null) return entry.plain;
    const bytes = unpack(entry.packed as Buffer, entry.size);
    if (!entry.released) show(entry, bytes);
    return bytes;
  };

  return {
    hold(bytes) {
      const size = bytes.length;
      const entry: Entry = { plain: null, packed: null, size, recent: true, released: false };
      show(entry, bytes);
      return {
        read: () => read(entry),
        release: () => {
          entry.released = true;
          if (plain.delete(entry)) total -= size;
        },
      };
    },
  };
}

function pack(bytes: Buffer): Buffer {
  const packed = deflateRawSync(bytes, { level: constants.Z_BEST_SPEED });
  const copy = Buffer.allocUnsafeSlow(packed.length);
  // What zlib returns is a part of a larger buffer.
  packed.copy(copy);
  return copy;
}

// One chunk of the right size: nothing to join, nothing left over.
const unpack = (packed: Buffer, size: number): Buffer =>
  inflateRawSync(packed, { chunkSize: Math.max(size, constants.Z_MIN_CHUNK) });
