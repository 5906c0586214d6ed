import {
  type Grade,
  grades,
  parseGrade,
  type Queue,
  queues,
  type ServedStatus,
} from "#src/domain/vocabulary.ts";
import { hourS } from "#src/domain/units.ts";
import { gradeShift, pricedBit, queueShift, statusCodes } from "#snapshots/model/fragment.ts";
import { field, type Page, recordSize } from "#snapshots/model/block.ts";
import { foldBrand, foldText } from "#snapshots/model/search-text.ts";

/** The filters of partner-api.md 4.1; an absent one lets everything pass. */
export interface Filters {
  statuses?: readonly ServedStatus[];
  /** All of them must be present now. */
  grades?: readonly Grade[];
  queues?: readonly Queue[];
  brand?: string;
  /** Only stations with fresh prices. */
  priced?: boolean;
  /** Status no older than this many hours; leaves out `nodata`. */
  freshH?: number;
  /** Folded words, each of which must occur in name, brand or address. */
  words?: readonly string[];
}

/** Splits `q` into words to look for and grades to filter by (decisions.md 7). */
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

const keys = new WeakMap<Filters, string>();

/** The same text for every spelling of the same filters; part of ETags and cursors. Filters never change. */
export function filtersKey(filters: Filters): string {
  let key = keys.get(filters);
  if (key === undefined) keys.set(filters, (key = keyOf(filters)));
  return key;
}

function keyOf(filters: Filters): string {
  const sorted = (list: readonly string[] | undefined): string[] => [...new Set(list)].sort();
  return JSON.stringify([
    sorted(filters.statuses),
    sorted(filters.grades),
    sorted(filters.queues),
    foldBrand(filters.brand ?? ""),
    filters.priced === true,
    filters.freshH ?? 0,
    sorted(filters.words),
  ]);
}

/** Marks the stations of a page that pass: 1 in their slot. `candidates` limits the look to its ones. */
export type Matcher = (page: Page, candidates: Uint8Array | null) => Uint8Array;

/**
 * The filters as one predicate over a page's flags, or null when everything passes.
 * `brandNumber` gives a folded brand's number in the model, or -1.
 */
export function compileFilters(
  filters: Filters,
  now: number,
  brandNumber: (folded: string) => number,
): Matcher | null {
  const statusBits = bits(filters.statuses, (status) => statusCodes.indexOf(status));
  const gradeBits = bits(filters.grades, (grade) => grades.indexOf(grade)) << gradeShift;
  const queueBits = bits(filters.queues, (queue) => queues.indexOf(queue) + 1);
  const brand = filters.brand ? brandNumber(foldBrand(filters.brand)) : undefined;
  const needed = gradeBits | (filters.priced ? pricedBit : 0);
  const freshFromS = filters.freshH === undefined ? undefined : now / 1000 - filters.freshH * hourS;
  const words = [...new Set(filters.words)].map((word) => Buffer.from(word));
  if (
    statusBits === 0 &&
    queueBits === 0 &&
    needed === 0 &&
    brand === undefined &&
    freshFromS === undefined &&
    words.length === 0
  )
    return null;
  const noData = statusCodes.indexOf("nodata");

  return (page, candidates) => {
    const { records } = page;
    const chosen = new Uint8Array(page.stations.length);
    for (let slot = 0; slot < chosen.length; slot++) {
      const at = slot * recordSize;
      const flags = records[at + field.flags] as number;
      const status = flags & 7;
      const passes =
        (candidates === null || candidates[slot] === 1) &&
        (statusBits === 0 || (statusBits & (1 << status)) !== 0) &&
        (flags & needed) === needed &&
        (queueBits === 0 || (queueBits & (1 << ((flags >> queueShift) & 7))) !== 0) &&
        (brand === undefined || records[at + field.brand] === brand) &&
        (freshFromS === undefined ||
          (status !== noData && (records[at + field.updatedS] as number) >= freshFromS));
      if (passes) chosen[slot] = 1;
    }
    for (const word of words) keepWithWord(page, chosen, word);
    return chosen;
  };
}

function bits<T>(list: readonly T[] | undefined, code: (item: T) => number): number {
  let found = 0;
  for (const item of list ?? []) found |= 1 << code(item);
  return found;
}

/** Searches the page's whole text at once, skipping to the next station at each hit. */
function keepWithWord(page: Page, chosen: Uint8Array, word: Buffer): void {
  let from = 0;
  for (let slot = 0; slot < chosen.length; slot++) {
    const end = page.records[slot * recordSize + field.textEnd] as number;
    if (from >= end) {
      // The next hit lies behind this station.
      chosen[slot] = 0;
      continue;
    }
    const hit = page.text.indexOf(word, from);
    if (hit === -1) return void chosen.fill(0, slot);
    if (hit >= end) chosen[slot] = 0;
    from = hit >= end ? hit : end;
  }
}
