import { type Block, field, read, recordSize, startIn } from "#snapshots/model/block.ts";

const maskLanes = field.letterMaskEnd - field.letterMask;
/** Lanes with a bit for each letter; in those after them the pairs of neighbouring letters share the bits. */
const letterLanes = 3;
const pairBits = (maskLanes - letterLanes) * 32;

/**
 * The letter mask of a text: the letters that it has, and, as a Bloom filter, its pairs of neighbouring letters. It has
 * every bit of the masks of all its parts, so that a few numbers rule out most stations without a word: to search each
 * text for each word took 150 ns. Letters alone let twice as many texts through. The lines of a text share one mask.
 */
export function letterMaskOf(text: string): Uint32Array {
  const letterMask = new Uint32Array(maskLanes);
  const set = (lane: number, bit: number): void => {
    letterMask[lane] = (letterMask[lane] as number) | (1 << bit);
  };
  let before = lineFeed;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    if (letter !== lineFeed) set(laneOf(letter), letter & 31);
    if (letter !== lineFeed && before !== lineFeed) {
      const pair = (Math.imul((before << 16) | letter, 0x85ebca6b) >>> 8) % pairBits;
      set(letterLanes + (pair >> 5), pair & 31);
    }
    before = letter;
  }
  return letterMask;
}

const lineFeed = "\n".charCodeAt(0);
const [firstCyrillic, firstLatin] = ["а".charCodeAt(0), "a".charCodeAt(0)];

/** а to я and a to z have a lane of their own, and so a bit. All other letters share the bits of the third. */
const laneOf = (letter: number): number =>
  letter >= firstCyrillic && letter < firstCyrillic + 32
    ? 0
    : letter >= firstLatin && letter < firstLatin + 26
      ? 1
      : 2;

/** True when every word occurs in the text of the station at `slot`. */
export type TextSearch = (block: Block, slot: number) => boolean;

/** `words` are folded (see `foldText`); null without words. */
export function compileSearch(words: readonly string[]): TextSearch | null {
  if (words.length === 0) return null;
  const [a, b, c, d, e, f] = letterMaskOf(words.join("\n")) as unknown as [
    ...[number, number, number, number, number, number],
  ];
  // The longest word, mostly the rarest, comes first. Bytes are compared: in UTF-8 a part of a text is a part of them.
  const parts = [...new Set(words)]
    .filter((word) => !/^[а-яa-z]$/.test(word))
    .sort((a, b) => b.length - a.length)
    .map((word) => Buffer.from(word).toString("latin1"));
  let shown: Block | null = null;
  let text = "";
  return (block, slot) => {
    const { records } = block;
    const at = slot * recordSize + field.letterMask;
    // A loop would make searches a tenth slower.
    if (
      (a & ~(records[at] as number)) !== 0 ||
      (b & ~(records[at + 1] as number)) !== 0 ||
      (c & ~(records[at + 2] as number)) !== 0 ||
      (d & ~(records[at + 3] as number)) !== 0 ||
      (e & ~(records[at + 4] as number)) !== 0 ||
      (f & ~(records[at + 5] as number)) !== 0
    )
      return false;
    if (parts.length === 0) return true;
    // A slice of a string costs a tenth of one of a buffer.
    if (shown !== block) text = (shown = block).text.toString("latin1");
    const own = text.slice(startIn(block, slot, field.textEnd), read(block, slot, field.textEnd));
    const missing = parts.findIndex((part) => !own.includes(part));
    // A word that is missing here is likely to be missing from the next text.
    if (missing > 0) parts.unshift(...parts.splice(missing, 1));
    return missing < 0;
  };
}
