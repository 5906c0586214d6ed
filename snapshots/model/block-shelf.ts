import { constants, deflateRawSync, inflateRawSync } from "node:zlib";

/** The bytes of a page, plain or, when nobody has read it for long, deflated. */
export interface PageBytes {
  /** Valid for good, also after the page has been replaced. */
  read(): Buffer;
  /** True while they are held plain. */
  isPlain(): boolean;
  /** To be called when the page is replaced by another, before that is written: it does not count any more. */
  release(): void;
}

/** Holds the bytes of pages: up to `plainBytes` of them plain, those read last. */
export interface PageShelf {
  /**
   * Holds `size` bytes that `fill` writes, all of them. Without room, and unless they are `warm`, they are deflated at
   * once, so that a large country that is loaded leaves no garbage of its own size.
   */
  hold(size: number, warm: boolean, fill: (bytes: Buffer) => void): PageBytes;
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
  let draft = Buffer.allocUnsafeSlow(0);

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
    // What has been replaced goes with whoever still reads it.
    if (entry.released) entry.plain = bytes;
    else show(entry, bytes);
    return bytes;
  };

  /** Bytes for a moment's use. */
  const drafted = (size: number): Buffer => {
    if (size > draft.length) draft = Buffer.allocUnsafeSlow(size * 2);
    return draft.subarray(0, size);
  };

  return {
    hold(size, warm, fill) {
      const entry: Entry = { plain: null, packed: null, size, recent: true, released: false };
      const isPlain = warm || total + size <= plainBytes;
      // Not from the shared pool: a pooled slice would keep its neighbours alive.
      const bytes = isPlain ? Buffer.allocUnsafeSlow(size) : drafted(size);
      fill(bytes);
      if (isPlain) show(entry, bytes);
      else entry.packed = pack(bytes);
      return {
        read: () => read(entry),
        isPlain: () => entry.plain !== null,
        release: () => {
          entry.released = true;
          if (plain.delete(entry)) total -= size;
        },
      };
    },
  };
}

/**
 * A small window suits a small page, and leaves fewer holes in the process's memory: with zlib's own of a quarter of a
 * megabyte 150,000 stations took 25 MB more. More work than at level 1 pays in what is held for long.
 */
const packing = { level: 6, windowBits: 13, memLevel: 5 };

function pack(bytes: Buffer): Buffer {
  const packed = deflateRawSync(bytes, packing);
  const copy = Buffer.allocUnsafeSlow(packed.length);
  // What zlib returns is a part of a larger buffer.
  packed.copy(copy);
  return copy;
}

// One chunk of the right size: nothing to join. A byte more, for zlib takes a second chunk when the first is full.
const unpack = (packed: Buffer, size: number): Buffer =>
  inflateRawSync(packed, { chunkSize: Math.max(size + 1, constants.Z_MIN_CHUNK) });
