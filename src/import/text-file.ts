import { isAscii, isUtf8 } from "node:buffer";
import iconv from "iconv-lite";
import { fileBytes } from "#src/import/file-bytes.ts";
import type { FileSpec } from "#src/import/records.ts";
import { advice, type ReadProgress, wrongFile } from "#src/import/read-text.ts";

/** What a description says about a file's bytes. */
export type TextSpec = Pick<FileSpec, "encoding" | "member" | "mayBeCut">;

/**
 * The file's text, piece by piece, without a byte order mark, unpacked. Its encoding is that of its byte order mark,
 * else the named one, else the one that its XML declares, else UTF-8. Throws a wrong-file fault for bytes of another
 * encoding, for characters that no text has, and for a web page.
 */
export async function* readText(
  path: string,
  progress: ReadProgress,
  spec?: TextSpec,
): AsyncGenerator<string> {
  let decoder: Decoder | null = null;
  let isFirst = true;
  for await (const piece of fileBytes(path, progress, spec?.member)) {
    decoder ??= decoderOf(piece, spec?.encoding);
    const text = decoder.write(piece);
    if (text === null) throw await notUtf8(path, spec);
    if (isFirst) refuseWebPage(text);
    isFirst = false;
    if (text.includes("\0"))
      throw wrongFile(
        "it has NUL characters, which no text has",
        "Is it UTF-16? Then save it as UTF-8, or name its `encoding`. Otherwise export it again.",
      );
    if (text !== "") yield text;
  }
  const rest = decoder?.end() ?? "";
  if (rest === null) throw await notUtf8(path, spec);
  if (rest !== "") yield rest;
}

/** Decodes pieces; null for bytes that are not of the encoding. */
interface Decoder {
  write(piece: Buffer): string | null;
  end(): string | null;
}

const byteOrderMarks: readonly [bytes: string, encoding: string][] = [
  ["\u00ef\u00bb\u00bf", "utf-8"],
  ["\u00ff\u00fe", "utf-16le"],
  ["\u00fe\u00ff", "utf-16be"],
];

function decoderOf(first: Buffer, named: string | undefined): Decoder {
  const head = first.subarray(0, 200).toString("latin1");
  const mark = byteOrderMarks.find(([bytes]) => head.startsWith(bytes))?.[1];
  const declared = /^\s*<\?xml[^>]*\sencoding=["']([\w.:-]+)["']/.exec(head)?.[1];
  const encoding = (mark ?? named ?? declared ?? "utf-8").toLowerCase();
  if (/^utf-?8$/.test(encoding)) return utf8Decoder();
  if (!iconv.encodingExists(encoding))
    throw wrongFile(
      `the encoding "${encoding}" is not known`,
      "Name it as in `iconv -l`, for example windows-1251, or save the file as UTF-8.",
    );
  // Files that call themselves ISO-8859-1 have the quotation marks and the euro sign of windows-1252.
  const real = /^(iso-?8859-1|latin-?1)$/.test(encoding) ? "windows-1252" : encoding;
  return otherDecoder(real);
}

function utf8Decoder(): Decoder {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const attempt = (read: () => string): string | null => {
    try {
      return read();
    } catch {
      return null;
    }
  };
  return {
    write: (piece) => attempt(() => decoder.decode(piece, { stream: true })),
    end: () => attempt(() => decoder.decode()),
  };
}

const lineFeed = 0x0a;
// So many bytes in one line make valid UTF-8 by chance in no text of one byte a letter.
const certainBytes = 6;

/** Every byte is a letter in most encodings, so that a wrong one shows only in what would be UTF-8. */
function otherDecoder(encoding: string): Decoder {
  const decoder = iconv.getDecoder(encoding);
  const utf8 = utf8Decoder();
  let [isAllUtf8, isAllAscii, line] = [true, true, 1];
  const refuse = (what: string, at: number | null): never => {
    throw wrongFile(`${what}, not ${encoding}`, `${advice.encoding} ${named}`, at);
  };
  const isMultiByte = /^utf|^ucs/.test(encoding);
  const look = (piece: Buffer): void => {
    isAllUtf8 &&= utf8.write(piece) !== null;
    isAllAscii &&= isAscii(piece);
    for (let from = 0, to; (to = piece.indexOf(lineFeed, from)) !== -1; from = to + 1, line += 1) {
      const text = piece.subarray(from, to);
      if (isAscii(text) || !isUtf8(text)) continue;
      if (text.filter((byte) => byte >= 0x80).length >= certainBytes) refuse("this is UTF-8", line);
    }
  };
  return {
    write(piece) {
      if (!isMultiByte) look(piece);
      const text = decoder.write(piece);
      if (text.includes("\ufffd")) refuse("it has bytes that are no letter", null);
      return text;
    },
    end() {
      if (!isMultiByte && isAllUtf8 && !isAllAscii) refuse("this is UTF-8", null);
      return decoder.end() ?? "";
    },
  };
}

function refuseWebPage(text: string): void {
  if (!/^\s*(<\?xml[^>]*>\s*)?<(!doctype\s+html|html)/i.test(text)) return;
  const title = /<title>\s*([^<]{1,100})/i.exec(text)?.[1]?.trim() ?? "";
  throw wrongFile(
    `this is a web page${title === "" ? "" : ` (“${title}”)`}, not the data`,
    "Open its address in a browser: the file may have moved, or need a login. Download it again.",
  );
}

// Only a source that is described can say its encoding.
const named = "Or name the encoding that it really has in the source's description.";

async function notUtf8(path: string, spec: TextSpec | undefined): Promise<Error> {
  const remedy = spec === undefined ? advice.encoding : `${advice.encoding} ${named}`;
  return wrongFile("this is not UTF-8 text", remedy, await firstWrongLine(path, spec?.member));
}

/** The first line whose bytes are not UTF-8. No multi-byte sequence has a line feed. */
async function firstWrongLine(path: string, member: string | undefined): Promise<number> {
  let line = 1;
  let rest = Buffer.alloc(0);
  for await (const piece of fileBytes(path, () => undefined, member)) {
    const bytes = Buffer.concat([rest, piece]);
    let from = 0;
    for (let to; (to = bytes.indexOf(lineFeed, from)) !== -1; from = to + 1, line += 1)
      if (!isUtf8(bytes.subarray(from, to))) return line;
    rest = bytes.subarray(from);
    // So long a line is mostly the only one.
    if (rest.length > 1_000_000) return line;
  }
  return line;
}
