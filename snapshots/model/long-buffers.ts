/** Shorter buffers are made anew. */
const longMin = 128 << 10;
const step = 256 << 10;
const keptMax = 4;
const largestKept = 8 << 20;

/** Free buffers, the smallest first. */
const free: Buffer[] = [];
/** Memory that may come back. Memory that never does is collected as garbage. */
const lent = new WeakSet<ArrayBufferLike>();

/**
 * A buffer of `size` bytes with any content, for the time of one answer. Long ones are used again once they are given
 * back: V8 counts the megabytes outside its heap, and a new buffer of 2 MB for each list of 4000 stations had it
 * collect the whole heap every few requests, which cost more than the lists.
 */
export function borrow(size: number): Buffer {
  if (size < longMin) return Buffer.allocUnsafeSlow(size);
  const at = free.findIndex(({ length }) => length >= size);
  const whole =
    at < 0
      ? Buffer.allocUnsafeSlow(Math.ceil(size / step) * step)
      : (free.splice(at, 1)[0] as Buffer);
  lent.add(whole.buffer);
  return whole.subarray(0, size);
}

/** Takes back a buffer of `borrow`, or a part of one, that its user reads no more. Other buffers are left alone. */
export function giveBack({ buffer }: Buffer): void {
  if (!lent.delete(buffer) || buffer.byteLength > largestKept) return;
  free.push(Buffer.from(buffer));
  free.sort((a, b) => a.length - b.length);
  if (free.length > keptMax) free.shift();
}

/** Buffers in a row, in one of `borrow`. A single one stays as it is. */
export function borrowJoined(parts: readonly Buffer[]): Buffer {
  if (parts.length === 1) return parts[0] as Buffer;
  const joined = borrow(parts.reduce((sum, { length }) => sum + length, 0));
  let to = 0;
  for (const part of parts) to += part.copy(joined, to);
  return joined;
}

/** A copy with memory of its own: zlib gives a slice of a larger buffer, which the slice would keep alive. */
export function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** Stands in for a missing head or tail. */
export const nothing = Buffer.alloc(0);
