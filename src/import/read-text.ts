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
    const unread = unreadable[code ?? ""];
    if (unread !== undefined) return { fault: `${file}: ${unread}` };
    throw error;
  }
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file; nothing was changed. Check its name and its folder.",
  ENAMETOOLONG: "there is no such file; nothing was changed. Check its name and its folder.",
  ENOTDIR: "there is no such file; nothing was changed. Check its name and its folder.",
  EISDIR: "this is a folder; nothing was changed. Name one file in it.",
  EACCES: "it may not be read; nothing was changed. Allow this user to read it.",
  EPERM: "it may not be read; nothing was changed. Allow this user to read it.",
};
