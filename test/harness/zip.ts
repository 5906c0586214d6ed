import { deflateRawSync } from "node:zlib";

/** A zip archive of files by their names, without checksums, which no reader here checks. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    const title = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), common, title, packed]);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\0"), common, end, title);
    parts.push(local);
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const tail = Buffer.alloc(18);
  tail.writeUInt16LE(Object.keys(files).length, 4);
  tail.writeUInt16LE(Object.keys(files).length, 6);
  tail.writeUInt32LE(listed.length, 8);
  tail.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, listed, Buffer.from("PK\u0005\u0006"), tail]);
}
