import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { ownCopy } from "#snapshots/model/long-buffers.ts";

export type BlockCache = ReturnType<typeof createBlockCache>;

/** The bytes of a block: plain, or deflated when they have not been read for long. */
export type BlockBytes = ReturnType<BlockCache["hold"]>;

interface Entry {
  /** Writes all of the bytes; null once it has. */
  fill: ((bytes: Buffer) => void) | null;
  plain: Buffer | null;
  packed: Buffer | null;
  size: number;
  /** It was read since `shrink` last looked at it. */
  recent: boolean;
  released: boolean;
}

/** Holds the bytes of blocks. Those read last stay plain, up to `plainBytes` in all. */
export function createBlockCache(plainBytes: number) {
  const plain = new Set<Entry>();
  let total = 0;
  let draft = Buffer.allocUnsafeSlow(0);

  /** Bytes that the next call reuses. */
  const drafted = (size: number): Buffer => {
    if (size > draft.length) draft = Buffer.allocUnsafeSlow(size * 2);
    return draft.subarray(0, size);
  };

  /** A replaced block is freed together with its last reader. */
  const staysPlain = (entry: Entry): boolean => entry.released || plain.has(entry);

  const write = (entry: Entry): void => {
    const { fill, size } = entry;
    if (fill === null) return;
    entry.fill = null;
    const isPlain = staysPlain(entry);
    // The bytes are not from the shared pool: a pooled slice would keep its neighbours alive.
    const bytes = isPlain ? Buffer.allocUnsafeSlow(size) : drafted(size);
    fill(bytes);
    if (isPlain) entry.plain = bytes;
    else entry.packed = pack(bytes);
  };

  /** Deflates entries by second chance: one that was read since the last look goes to the back of the queue. */
  const shrink = (): void => {
    for (const entry of plain) {
      if (total <= plainBytes) return;
      plain.delete(entry);
      if (entry.recent) {
        entry.recent = false;
        plain.add(entry);
        continue;
      }
      write(entry);
      // A block never changes, so it is packed only once.
      entry.packed ??= pack(entry.plain as Buffer);
      entry.plain = null;
      total -= entry.size;
    }
  };

  const count = (entry: Entry): void => {
    plain.add(entry);
    total += entry.size;
    if (total > plainBytes) shrink();
  };

  const read = (entry: Entry, keep: boolean): Buffer => {
    entry.recent ||= keep;
    if (entry.plain !== null) return entry.plain;
    if (keep && !entry.released && !plain.has(entry)) count(entry);
    write(entry);
    if (entry.plain !== null) return entry.plain;
    const bytes = unpack(entry.packed as Buffer, entry.size);
    if (keep && staysPlain(entry)) entry.plain = bytes;
    return bytes;
  };

  return {
    /** Holds `size` bytes, which `fill` writes once, when they are first asked for. */
    hold(size: number, warm: boolean, fill: (bytes: Buffer) => void) {
      const state = { plain: null, packed: null, recent: true, released: false };
      const entry: Entry = { fill, size, ...state };
      if (warm || total + size <= plainBytes) count(entry);
      return {
        /**
         * Writes the bytes now; deflated if they do not fit and are not `warm`, so that loading a large country leaves
         * no garbage of that size.
         */
        write: (): void => write(entry),
        /** The plain bytes, valid also after the block was replaced. Without `keep` they count as not read. */
        read: (keep = true): Buffer => read(entry, keep),
        /** True while they are held plain, or will be once they are written. */
        isPlain: (): boolean => entry.plain !== null || (entry.fill !== null && staysPlain(entry)),
        /** Call it before the block's replacement is written: its bytes no longer count. */
        release(): void {
          entry.released = true;
          if (plain.delete(entry)) total -= size;
        },
      };
    },
  };
}

/**
 * A small window suits a small block and fragments the process's memory less: with zlib's default of a quarter of a
 * megabyte 150,000 stations took 25 MB more. The bytes are held for long, so level 6 pays.
 */
const packing = { level: 6, windowBits: 13, memLevel: 5 };

const pack = (bytes: Buffer): Buffer => ownCopy(deflateRawSync(bytes, packing));

// One chunk spares joining. It has one byte more, because zlib takes a second chunk when the first is full.
const unpack = (packed: Buffer, size: number): Buffer =>
  inflateRawSync(packed, { chunkSize: Math.max(size + 1, constants.Z_MIN_CHUNK) });
