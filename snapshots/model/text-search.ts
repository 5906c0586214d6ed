import { type Block, field, read, recordSize, startIn } from "#snapshots/model/block.ts";

const signLanes = field.signEnd - field.sign;
/** Lanes with a bit for each letter; in those after them the pairs of neighbouring letters share the bits. */
const letterLanes = 3;
const pairBits = (signLanes - letterLanes) * 32;

/**
 * What a text's sign says: which letters it has, and, as a Bloom filter, which pairs of neighbouring letters. The sign
 * of a text has every bit of the sign of each of its parts, so that most stations without a word are known from a few
 * numbers: to search each text for each word took 150 ns.
 */
export function signOf(text: string): Uint32Array {
  const sign = new Uint32Array(signLanes);
  let before = 0;
  for (let i = 0; i < text.length; i++) {
    const letter = text.charCodeAt(i);
    setBit(sign, bitOf(letter));
    if (i > 0) {
      const hashed = Math.imul((before << 16) | letter, 0x85ebca6b) >>> 8;
      setBit(sign, letterLanes * 32 + (hashed % pairBits));
    }
    before = letter;
  }
  return sign;
}

const setBit = (sign: Uint32Array, bit: number): void => {
  sign[bit >> 5] = (sign[bit >> 5] as number) | (1 << (bit & 31));
};

const [firstCyrillic, firstLatin] = ["а".charCodeAt(0), "a".charCodeAt(0)];
const firstDigit = "0".charCodeAt(0);
const [latinLane, otherLane] = [32, 64];
const digits = 10;

/** а to я, a to z and the digits have a bit of their own; all other letters share the rest. */
function bitOf(letter: number): number {
  if (letter >= firstCyrillic && letter < firstCyrillic + 32) return letter - firstCyrillic;
  if (letter >= firstLatin && letter < firstLatin + 26) return latinLane + letter - firstLatin;
  if (letter >= firstDigit && letter < firstDigit + digits) return otherLane + letter - firstDigit;
  return otherLane + digits + (letter % (32 - digits));
}

const hasOwnBit = (word: string): boolean => /^[а-яa-z0-9]$/.test(word);

/** True when every word occurs in the text of the station at `slot`; null without words. */
export type TextSearch = (block: Block, slot: number) => boolean;

/** More words than anybody types are not compared with each other. */
const comparedMax = 100;

/** `words` are folded (see `foldText`). */
export function compileSearch(words: readonly string[]): TextSearch | null {
  if (words.length === 0) return null;
  const needed = essential(words);
  const [a, b, c, d, e, f] = [...signOfAll(needed)] as [
    ...[number, number, number, number, number, number],
  ];
  // Compared byte by byte: in UTF-8 a part of a text is a part of its bytes.
  const parts = needed
    .filter((word) => !hasOwnBit(word))
    .map((word) => Buffer.from(word).toString("latin1"));
  let shown: Block | null = null;
  let text = "";
  return (block, slot) => {
    const { records } = block;
    const at = slot * recordSize + field.sign;
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
    for (let i = 0; i < parts.length; i++) {
      if (own.includes(parts[i] as string)) continue;
      // What is missing here is likely to be missing from the next one.
      if (i > 0) parts.unshift(...parts.splice(i, 1));
      return false;
    }
    return true;
  };
}

/** Without those that are part of another word, which has to occur anyway; the longest, mostly the rarest, first. */
function essential(words: readonly string[]): string[] {
  const longestFirst = [...new Set(words)].sort((a, b) => b.length - a.length);
  if (longestFirst.length > comparedMax) return longestFirst;
  return longestFirst.filter(
    (word, i) => !longestFirst.slice(0, i).some((longer) => longer.includes(word)),
  );
}

function signOfAll(words: readonly string[]): Uint32Array {
  const sign = new Uint32Array(signLanes);
  for (const word of words)
    signOf(word).forEach((bits, lane) => (sign[lane] = (sign[lane] as number) | bits));
  return sign;
}
