import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** A line of a spilled file: a head, and numbers of one of the two kinds. */
export interface Spilled<Head, Numbers> {
  head: Head;
  numbers: Numbers;
}

const bufferBytes = 4 * 1024 * 1024;

/** One record: lengths of both parts, the head as JSON, the numbers as they lie in memory. */
export function recordOf(head: object, numbers: Int32Array | Float64Array): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(json.length, 0);
  lengths.writeUInt32LE(numbers.byteLength, 4);
  const { buffer, byteOffset, byteLength } = numbers;
  return Buffer.concat([lengths, json, Buffer.from(buffer, byteOffset, byteLength)]);
}

/** A file that grows by records, written in large pieces. */
export interface Spill {
  /** Answers where the record lies in the file. */
  add(record: Buffer): number;
  flush(): void;
  close(): void;
  path: string;
}

export function openSpill(path: string): Spill {
  const file = openSync(path, "w");
  let waiting: Buffer[] = [];
  let [written, buffered] = [0, 0];
  const flush = (): void => {
    if (buffered > 0) writeAll(file, Buffer.concat(waiting));
    written += buffered;
    [waiting, buffered] = [[], 0];
  };
  return {
    path,
    add(record) {
      const at = written + buffered;
      waiting.push(record);
      buffered += record.length;
      if (buffered >= bufferBytes) flush();
      return at;
    },
    flush,
    close() {
      flush();
      closeSync(file);
    },
  };
}

/** A write may take only part of it. */
export function writeAll(file: number, bytes: Uint8Array): void {
  for (let from = 0; from < bytes.length;) from += writeSync(file, bytes, from);
}

/** All records of a file, in their order; a few megabytes of it are in memory. */
export function* readRecords<Head, Numbers extends Int32Array | Float64Array>(
  path: string,
  kind: new (buffer: ArrayBuffer) => Numbers,
): Generator<Spilled<Head, Numbers>> {
  const file = openSync(path, "r");
  try {
    let rest = Buffer.alloc(0);
    for (;;) {
      const bytes = Buffer.alloc(bufferBytes);
      const count = readSync(file, bytes, 0, bufferBytes, null);
      if (count === 0) return;
      rest = Buffer.concat([rest, bytes.subarray(0, count)]);
      let from = 0;
      for (let end = endOf(rest, from); end <= rest.length; end = endOf(rest, from)) {
        yield parse(rest.subarray(from, end), kind);
        from = end;
      }
      rest = rest.subarray(from);
    }
  } finally {
    closeSync(file);
  }
}

const endOf = (bytes: Buffer, from: number): number =>
  from + 8 > bytes.length
    ? Infinity
    : from + 8 + bytes.readUInt32LE(from) + bytes.readUInt32LE(from + 4);

function parse<Head, Numbers>(
  record: Buffer,
  kind: new (buffer: ArrayBuffer) => Numbers,
): Spilled<Head, Numbers> {
  const start = 8 + record.readUInt32LE(0);
  const head = JSON.parse(record.toString("utf8", 8, start)) as Head;
  // A copy: the numbers may lie at an odd place of the file.
  return { head, numbers: new kind(Uint8Array.from(record.subarray(start)).buffer) };
}

/** The record at this place of a file. */
export function recordAt<Head, Numbers>(
  file: number,
  at: number,
  kind: new (buffer: ArrayBuffer) => Numbers,
): Spilled<Head, Numbers> {
  const lengths = Buffer.alloc(8);
  readSync(file, lengths, 0, 8, at);
  const record = Buffer.alloc(endOf(lengths, 0));
  readSync(file, record, 0, record.length, at);
  return parse(record, kind);
}
