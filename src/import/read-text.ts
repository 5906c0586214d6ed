import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { TextDecoder } from "node:util";

/** Called after each piece of a file with the bytes read so far. */
export type ReadProgress = (bytes: number) => void;

/**
 * The reason why a file was not imported, for the operator: the place, the fault, possible changes, and advice. The
 * console and the command line show the same words (decisions 13.22).
 */
export interface FileFault {
  fault: string;
  /** True if saving had begun: its whole transactions stay. */
  brokeOff?: true;
}

export const isFault = (value: object): value is FileFault => "fault" in value;

/** A fault of the file itself, thrown through a parser and turned into a value by `asFault`. */
class WrongFile extends Error {
  readonly advice: string;
  readonly line: number | null;
  /** The file, where it is not the one that the reader was asked for. */
  path: string | null = null;

  constructor(what: string, advice: string, line: number | null) {
    super(what);
    this.advice = advice;
    this.line = line;
  }
}

/** A fault `what` in `line` (from 1; null for the whole file), and the advice as a sentence. */
export const wrongFile = (what: string, advice: string, line: number | null = null): Error =>
  new WrongFile(what, advice, line);

/** The same items; a fault while they are read is one of the file `path`. */
export async function* inFile<Item>(
  path: string,
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (error) {
    if (error instanceof WrongFile) error.path ??= path;
    throw error;
  }
}

/** Advice that several formats share. */
export const advice = {
  cut: "The file may be cut off: export or download it again.",
  kind: "Is it the right file for this kind of content? docs/imports.md describes each format.",
  encoding: "Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”), and import it again.",
} as const;

/** The file's text, piece by piece, without a byte order mark. Bytes that are not UTF-8 make it a wrong file. */
export async function* readText(
  path: string,
  progress: ReadProgress,
  _encoding?: string,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    const text = await decode(path, () => decoder.decode(piece as Buffer, { stream: true }));
    bytes += (piece as Buffer).length;
    progress(bytes);
    if (text !== "") yield text;
  }
  const rest = await decode(path, () => decoder.decode());
  if (rest !== "") yield rest;
}

/** The result of `read`, or its fault when the file is missing, unreadable, truncated or of another kind. */
export async function asFault<T extends object>(
  path: string,
  read: () => Promise<T>,
): Promise<T | FileFault> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof WrongFile) {
      const file = error.path ?? path;
      const place = error.line === null ? file : `${file}, line ${error.line}`;
      return { fault: `${place}: ${error.message}; nothing was changed. ${error.advice}` };
    }
    const { code, path: file = path } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { fault: `${file}: no such file` };
    if (code === "EISDIR" || code === "EACCES" || code === "EPERM")
      return { fault: `${file} cannot be read (${code})` };
    throw error;
  }
}

async function decode(path: string, read: () => string): Promise<string> {
  try {
    return read();
  } catch {
    const other = await otherFormat(path);
    if (other !== null) throw wrongFile(...other);
    throw wrongFile("this is not UTF-8 text", advice.encoding, await firstWrongLine(path));
  }
}

/** The first bytes of files that are not text. */
const beginnings: readonly [bytes: readonly number[], what: string, advice: string][] = [
  [
    [0x50, 0x4b, 0x03, 0x04],
    "this is a spreadsheet or an archive, not a text",
    "Export it as “CSV UTF-8”, or unpack it first.",
  ],
  [[0x1f, 0x8b], "this is a compressed file", "Unpack it first."],
  [[0xff, 0xfe], "this text is UTF-16, not UTF-8", advice.encoding],
  [[0xfe, 0xff], "this text is UTF-16, not UTF-8", advice.encoding],
];

async function otherFormat(path: string): Promise<[what: string, advice: string] | null> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const known = beginnings.find(([bytes]) => bytes.every((byte, n) => buffer[n] === byte));
    return known === undefined ? null : [known[1], known[2]];
  } finally {
    await file.close();
  }
}

const lineFeed = 0x0a;

/** The first line whose bytes are not UTF-8. No multi-byte sequence has a line feed. */
async function firstWrongLine(path: string): Promise<number> {
  let line = 1;
  let decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const piece of createReadStream(path)) {
      let from = 0;
      const bytes = piece as Buffer;
      for (let to = bytes.indexOf(lineFeed); to !== -1; to = bytes.indexOf(lineFeed, from)) {
        decoder.decode(bytes.subarray(from, to), { stream: true });
        decoder.decode();
        decoder = new TextDecoder("utf-8", { fatal: true });
        from = to + 1;
        line += 1;
      }
      decoder.decode(bytes.subarray(from), { stream: true });
    }
  } catch {
    // This line is the wrong one.
  }
  return line;
}
