import { createReadStream } from "node:fs";
import { TextDecoder } from "node:util";

/** Called after each piece of a file with the bytes read so far. */
export type ReadProgress = (bytes: number) => void;

/** A file that cannot be taken as a whole, as one sentence. Nothing was changed. */
export interface FileFault {
  fault: string;
}

export const isFault = (value: object): value is FileFault => "fault" in value;

/** A fault of the file itself, thrown through a parser and turned into a value by `asFault`. */
class WrongFile extends Error {}

/** The file's text, piece by piece, without a byte order mark. Bytes that are not UTF-8 make it a wrong file. */
export async function* readText(path: string, progress: ReadProgress): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    const text = decode(() => decoder.decode(piece as Buffer, { stream: true }));
    bytes += (piece as Buffer).length;
    progress(bytes);
    if (text !== "") yield text;
  }
  const rest = decode(() => decoder.decode());
  if (rest !== "") yield rest;
}

export const wrongFile = (sentence: string): Error => new WrongFile(sentence);

/** The result of `read`, or its fault when the file is missing, unreadable, truncated or not what was expected. */
export async function asFault<T extends object>(
  path: string,
  read: () => Promise<T>,
): Promise<T | FileFault> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof WrongFile)
      return { fault: `${path}: ${error.message}; nothing was changed` };
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return { fault: `${path}: no such file` };
    if (code === "EISDIR" || code === "EACCES" || code === "EPERM")
      return { fault: `${path} cannot be read (${code})` };
    throw error;
  }
}

function decode(read: () => string): string {
  try {
    return read();
  } catch {
    throw wrongFile("is not UTF-8 text");
  }
}
