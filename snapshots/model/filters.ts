import { foldText } from "#src/contract/fold-text.ts";
import {
  type Grade,
  gradeBits,
  grades,
  parseGrade,
  type Queue,
  queues,
  type ServedStatus,
  servedStatuses,
} from "#src/domain/vocabulary.ts";
import { hourS } from "#src/domain/units.ts";
import { type Block, field, recordSize, read, startIn } from "#snapshots/model/block.ts";
import { type BrandTable, foldBrand } from "#snapshots/model/brand-table.ts";
import {
  chanceIn,
  gradeShift,
  pricedBit,
  queueShift,
  soldShift,
  letterMaskOf,
} from "#snapshots/model/fragment.ts";
import type { Schedules } from "#snapshots/model/schedules.ts";

/** The filters of docs/contract.md 4.1; an absent filter lets every station pass. */
export interface Filters {
  statuses?: readonly ServedStatus[];
  /** All of them must be present now. */
  grades?: readonly Grade[];
  queues?: readonly Queue[];
  /** All of them must be sold there, now or not. */
  sold?: readonly Grade[];
  /** Not known to lack it for good (`lacks`). For lists alone: it is no part of the key. */
  mayHave?: Grade;
  /** Only stations that are open, or only those that are closed; those whose hours are unknown pass neither. */
  opened?: boolean;
  /** In any of its spellings (decisions 14.26). */
  brand?: string;
  /** Only stations with fresh prices. */
  priced?: boolean;
  /** Status at most this many hours old; leaves out `nodata`. */
  freshH?: number;
  /** At least this chance of fuel, percent; those whose chance is unknown do not pass. */
  chanceMin?: number;
  /** Folded words, each of which must occur in name, brand or address, or be a spelling of the brand. */
  words?: readonly string[];
}

/** Splits `q` into words to look for and grades to filter by (decisions 7). */
export function parseSearch(q: string): { words: string[]; grades: Grade[] } {
  const words: string[] = [];
  const found: Grade[] = [];
  for (const word of foldText(q).split(" ")) {
    const grade = parseGrade(word);
    if (grade !== undefined) found.push(grade);
    else if (word !== "") words.push(word);
  }
  return { words, grades: found };
}

/** The same text for every spelling of the same filters; part of ETags and cursors. */
export function filtersKey(filters: Filters): string {
  const sorted = (list: readonly string[] | undefined): string[] => [...new Set(list)].sort();
  return JSON.stringify([
    sorted(filters.statuses),
    sorted(filters.grades),
    sorted(filters.queues),
    foldBrand(filters.brand ?? ""),
    filters.priced === true,
    filters.freshH ?? 0,
    sorted(filters.words),
    // Added later: without them the key is that of older versions, whose cursors and sets go on.
    ...(filters.opened !== undefined || filters.sold?.length || filters.chanceMin !== undefined
      ? [sorted(filters.sold), filters.opened ?? null]
      : []),
    ...(filters.chanceMin === undefined ? [] : [filters.chanceMin]),
  ]);
}

/** The filters of a `filtersKey`. */
export function filtersOf(key: string): Filters {
  const [statuses, grades, queues, brand, priced, freshH, words, ...later] = JSON.parse(key) as [
    ...[
      ServedStatus[],
      Grade[],
      Queue[],
      string,
      boolean,
      number,
      string[],
      Grade[]?,
      (boolean | null)?,
      number?,
    ],
  ];
  const [sold = [], opened = null, chanceMin] = later;
  return {
    ...{ statuses, grades, queues, brand, priced, words, sold },
    ...(opened === null ? {} : { opened }),
    ...(freshH === 0 ? {} : { freshH }),
    ...(chanceMin === undefined ? {} : { chanceMin }),
  };
}

/** Marks passing stations of a block by 1 in their slot, only among those marked in `within` unless it is null. */
export type Matcher = (block: Block, within: Uint8Array | null) => Uint8Array;

/** The filters as one predicate over a block's flags, or null when everything passes. `hoursAt` looks at a number of hours. */
export function compileFilters(
  filters: Filters,
  now: number,
  brands: Pick<BrandTable, "spellingsOf">,
  hoursAt: Schedules["stateAt"],
): Matcher | null {
  const statusBits = bits(filters.statuses, (status) => servedStatuses.indexOf(status));
  const nowBits = gradeBits(filters.grades ?? []) << gradeShift;
  const queueBits = bits(filters.queues, (queue) => queues.indexOf(queue) + 1);
  const brand = filters.brand ? (brands.spellingsOf(filters.brand) ?? none) : undefined;
  const soldBits = gradeBits(filters.sold ?? []) << soldShift;
  const needed = nowBits | soldBits | (filters.priced ? pricedBit : 0);
  const may = gradeBits(filters.mayHave ? [filters.mayHave] : []);
  const mayBits = (may << gradeShift) | (may << soldShift);
  const { opened, chanceMin } = filters;
  const hoursWanted = opened === true ? "open" : "closed";
  const freshFromS = filters.freshH === undefined ? undefined : now / 1000 - filters.freshH * hourS;
  const search = compileWords(filters.words ?? [], brands);
  if (
    statusBits === 0 &&
    queueBits === 0 &&
    needed === 0 &&
    mayBits === 0 &&
    brand === undefined &&
    freshFromS === undefined &&
    opened === undefined &&
    chanceMin === undefined &&
    search === null
  )
    return null;
  const noData = servedStatuses.indexOf("nodata");

  return (block, within) => {
    const { records } = block;
    const chosen = new Uint8Array(block.stations.length);
    for (let slot = 0; slot < chosen.length; slot++) {
      const at = slot * recordSize;
      const flags = records[at + field.flags] as number;
      const status = flags & 7;
      const passes =
        (within === null || within[slot] === 1) &&
        (statusBits === 0 || (statusBits & (1 << status)) !== 0) &&
        (flags & needed) === needed &&
        (mayBits === 0 || (flags & mayBits) !== 0 || (flags & allSold) === 0) &&
        (queueBits === 0 || (queueBits & (1 << ((flags >> queueShift) & 7))) !== 0) &&
        (chanceMin === undefined || chanceIn(flags) >= chanceMin) &&
        (brand === undefined || brand[records[at + field.brand] as number] === 1) &&
        (freshFromS === undefined ||
          (status !== noData && (records[at + field.updatedS] as number) >= freshFromS)) &&
        (search === null || search(block, slot)) &&
        // Last, because it may have to read a text.
        (opened === undefined || hoursAt(records[at + field.hours] as number, now) === hoursWanted);
      if (passes) chosen[slot] = 1;
    }
    return chosen;
  };
}

const none = new Uint8Array(0);
const allSold = gradeBits(grades) << soldShift;
/** In a longer search no word is taken for a brand: nobody types so many, and each costs a look. */
const brandWordsMax = 8;

/** The words as one search, in which a word that is a brand's spelling also finds its other spellings. */
function compileWords(
  words: readonly string[],
  brands: Pick<BrandTable, "spellingsOf">,
): TextSearch | null {
  const named = words.length > brandWordsMax ? [] : words.filter((word) => word.length > 1);
  const found = new Map(named.map((word) => [word, brands.spellingsOf(word)]));
  const plain = compileSearch(words.filter((word) => !found.get(word)));
  const either = [...found].flatMap(([word, wanted]) =>
    wanted === null ? [] : { wanted, inText: compileSearch([word])! },
  );
  if (either.length === 0) return plain;
  return (block, slot) =>
    (plain === null || plain(block, slot)) &&
    either.every(
      ({ wanted, inText }) =>
        wanted[block.records[slot * recordSize + field.brand] as number] === 1 ||
        inText(block, slot),
    );
}

function bits<T>(list: readonly T[] | undefined, code: (item: T) => number): number {
  let found = 0;
  for (const item of list ?? []) found |= 1 << code(item);
  return found;
}

/** True when every word occurs in the text of the station at `slot`. */
type TextSearch = (block: Block, slot: number) => boolean;

/** `words` are folded (see `foldText`); null without words. */
function compileSearch(words: readonly string[]): TextSearch | null {
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
