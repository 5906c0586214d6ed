import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";

const pieceBytes = 256 * 1024;

/**
 * The content of a file, piece by piece; of a gz, and of a zip or its `member`, what is packed in it. `progress` gets
 * the bytes of the file itself. Throws a wrong-file fault for a folder, an empty file, other packed formats, and for
 * content that grows without end while it is unpacked.
 */
export async function* fileBytes(
  path: string,
  progress: ReadProgress,
  member?: string,
): AsyncGenerator<Buffer> {
  const start = await startOf(path);
  if (startsWith(start, zipStart)) {
    yield* zipped(path, progress, member);
    return;
  }
  const isPacked = startsWith(start, gzStart);
  // Small pieces of a packed file, so that a bomb is known before much of it is unpacked.
  const file = createReadStream(path, { highWaterMark: isPacked ? pieceBytes / 16 : pieceBytes });
  if (isPacked) {
    const unpacked = createGunzip({ chunkSize: pieceBytes });
    // The callback form: an error destroys the stream, and the loop throws it.
    pipeline(file, unpacked, () => undefined);
    yield* growing(unpacked, () => file.bytesRead, progress);
    return;
  }
  for await (const piece of file) {
    progress(file.bytesRead);
    yield piece as Buffer;
  }
}

const gzStart = [0x1f, 0x8b];
const zipStart = [0x50, 0x4b, 0x03, 0x04];
const packed: readonly [start: readonly number[], what: string, advice: string][] = [
  [[0x42, 0x5a, 0x68], "compressed by bzip2", "Unpack it first (`bunzip2 FILE`)."],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], "compressed by xz", "Unpack it first (`unxz FILE`)."],
  [[0x28, 0xb5, 0x2f, 0xfd], "compressed by zstd", "Unpack it first (`unzstd FILE`)."],
  [[0x37, 0x7a, 0xbc, 0xaf], "a 7z archive", "Unpack it first."],
  [[0x52, 0x61, 0x72, 0x21], "a RAR archive", "Unpack it first."],
  [[0xd0, 0xcf, 0x11, 0xe0], "an old Excel or Word file", "Export it as “CSV UTF-8”."],
  [[0x50, 0x4b, 0x05, 0x06], "an empty archive", "Download or pack it again."],
  [[0x25, 0x50, 0x44, 0x46], "a PDF", "Look for the data as CSV, JSON or XML."],
];

const startsWith = (bytes: Buffer, start: readonly number[]): boolean =>
  start.every((byte, n) => bytes[n] === byte);

/** The first bytes of a file that may be read; throws a wrong-file fault for others. */
async function startOf(path: string): Promise<Buffer> {
  const about = await stat(path);
  if (about.isDirectory()) throw wrongFile("this is a folder", "Name one file in it.");
  if (!about.isFile()) throw wrongFile("this is not a file", "Save its content as a file first.");
  if (about.size === 0) throw wrongFile("it is empty", "Export or download it again.");
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const known = packed.find(([bytes]) => startsWith(buffer, bytes));
    if (known !== undefined) throw wrongFile(`this is ${known[1]}`, known[2]);
    return buffer;
  } finally {
    await file.close();
  }
}

// Registers shrink to a tenth or a twentieth; bombs to a thousandth.
const growthMax = 200;
const growthFrom = 4_000_000;

/** Throws a wrong-file fault for content that is far larger than the packed bytes that it comes from. */
export function refuseGrowth(bytes: number, packedBytes: number): void {
  if (bytes > growthFrom && bytes > growthMax * packedBytes)
    throw wrongFile(
      `its content is more than ${growthMax} times as large as the file`,
      "No register is packed like that. Unpack it and look what it is.",
    );
}

/**
 * The unpacked pieces of a stream. `packedBytes` gives how much of the file they are. Throws a wrong-file fault when
 * they are damaged, or far larger than the file.
 */
async function* growing(
  unpacked: Readable,
  packedBytes: (unpackedBytes: number) => number,
  progress: ReadProgress,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const piece of unpacked) {
      bytes += (piece as Buffer).length;
      const from = packedBytes(bytes);
      progress(from);
      refuseGrowth(bytes, from);
      yield piece as Buffer;
    }
  } catch (error) {
    if (unpacked.errored !== error) throw error;
    throw damaged(error as Error);
  }
}

async function* zipped(
  path: string,
  progress: ReadProgress,
  member?: string,
): AsyncGenerator<Buffer> {
  const open = { autoClose: false, lazyEntries: true };
  const zip = await openPromise(path, open).catch((error: Error) => Promise.reject(damaged(error)));
  try {
    const entry = await memberOf(zip, member);
    if (!entry.canDecodeFileData())
      throw wrongFile(`"${entry.fileName}" in it is encrypted, or packed in a rare way`, unzip);
    const unpacked = await zip.openReadStreamPromise(entry);
    const share = entry.compressedSize / Math.max(1, entry.uncompressedSize);
    yield* growing(unpacked, (bytes) => Math.round(bytes * share), progress);
  } finally {
    zip.close();
  }
}

const unzip = "Unpack it, and import the file in it.";
const membersMax = 1000;

async function memberOf(zip: ZipFile, member: string | undefined): Promise<Entry> {
  const entries: Entry[] = [];
  if (zip.entryCount > membersMax)
    throw wrongFile(`this archive holds ${zip.entryCount} files`, unzip);
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName === "[Content_Types].xml")
      throw wrongFile("this is a spreadsheet, not a text", "Export it as “CSV UTF-8”.");
    if (!/\/$|^__MACOSX/.test(entry.fileName)) entries.push(entry);
  }
  const wanted = entries.filter(({ fileName }) => member === undefined || fileName === member);
  if (wanted.length === 1) return wanted[0]!;
  const names = entries.slice(0, 10).map(({ fileName }) => fileName);
  const what = member === undefined ? "several files" : `no file "${member}"`;
  throw wrongFile(
    entries.length === 0
      ? "this archive is empty"
      : `this archive holds ${what}, but ${names.join(", ")}`,
    "Name one of them as `member` in the source's description, or unpack it.",
  );
}

/** An error of unpacking as a fault of the file; one of the disk stays. */
function damaged(error: Error): Error {
  if ((error as NodeJS.ErrnoException).errno !== undefined && "syscall" in error) return error;
  return wrongFile(
    `what is packed in it breaks off or is damaged (${error.message.slice(0, 100)})`,
    advice.cut,
  );
}
