import { hash } from "node:crypto";
import { foldText } from "#src/contract/fold-text.ts";
import { stationHead } from "#src/contract/present.ts";
import type { StationRow } from "#src/feed/feed.ts";
import { emptyState, type FuelBlock, type StationState } from "#src/domain/state.ts";
import { gradeBits, grades, gradesIn, queues, servedStatuses } from "#src/domain/vocabulary.ts";
import { parseTime } from "#src/domain/time.ts";
import { chanceStep } from "#src/domain/chance/level.ts";
import { withChance } from "#src/domain/view.ts";
import {
  type Block,
  field,
  fragmentOf,
  read,
  recordSize,
  type Rendered,
  stateOf,
  textOf,
} from "#snapshots/model/block.ts";

export const gradeShift = 3;
export const queueShift = 8;
export const pricedBit = 1 << 11;
export const soldShift = 12;
const chanceShift = 17;
const allGrades = gradeBits(grades);

/**
 * The station rendered as it is served (docs/contract.md 2.1). `state` is the state from which the passing of time
 * will still change it (`writeState`), "" when nothing will change.
 */
export function renderStation(
  station: number,
  row: StationRow,
  numbers: Pick<Marks, "brand" | "hours">,
  fuel: FuelBlock,
  state: string,
): Rendered {
  const { lat, lon, name, addr } = row;
  const marks = { ...numbers, sold: gradeBits(gradesIn(row.grades_sold)) };
  const fixed = stationHead(row);
  const text = `${[name, row.brand, addr].map(foldText).join("\u001f")}\n`;
  const json = `${fixed}${JSON.stringify(fuel)}},`;
  return { station, lat, lon, json, text, state, record: recordOf(fixed, json, text, marks, fuel) };
}

/** The chance of fuel in a record's flags, percent; below 0 while it is unknown. */
export const chanceIn = (flags: number): number => ((flags >>> chanceShift) - 1) * chanceStep;

/** The same station after its state has changed by time; `ended` when the passing of time will change nothing more. */
export function renderFuel(
  block: Block,
  slot: number,
  folded: FuelBlock,
  ended: boolean,
): Rendered {
  const flags = read(block, slot, field.flags);
  const chance = chanceIn(flags);
  const fuel = withChance(folded, chance < 0 ? null : chance);
  const fixed = fragmentOf(block, slot).toString("utf8", 0, read(block, slot, field.fuel));
  const json = `${fixed}${JSON.stringify(fuel)}},`;
  const text = textOf(block, slot);
  const marks: Marks = {
    brand: read(block, slot, field.brand),
    hours: read(block, slot, field.hours),
    sold: (flags >>> soldShift) & allGrades,
  };
  return {
    station: block.stations[slot] as number,
    lat: block.coordinates[slot * 2] as number,
    lon: block.coordinates[slot * 2 + 1] as number,
    json,
    text,
    state: ended ? "" : stateOf(block, slot),
    record: recordOf(fixed, json, text, marks, fuel),
  };
}

/** The value of `fuel` as it is served, read back from the station's bytes. */
export function fuelOf(block: Block, slot: number): FuelBlock {
  const json = fragmentOf(block, slot);
  return JSON.parse(
    json.toString("utf8", read(block, slot, field.fuel), json.length - 1),
  ) as FuelBlock;
}

/** The parts of a state that `view` and `transitions` read. Fields that only the next fold needs are in the database. */
const stateFields = [
  "served status updated confirmations realCount details fuelsNow fuelsNo queue limitL noCash fuelCardsOnly seeded",
  "versions count newest id disputed challenger prices grade price from lastUpdated next at state",
].flatMap((names) => names.split(" "));

/** A folded state as it is kept with its station, and read back from there. */
export const writeState = (state: StationState): string => JSON.stringify(state, stateFields);
export const readState = (text: string): StationState => ({
  ...emptyState,
  ...(JSON.parse(text) as Partial<StationState>),
});

/** What the filters read of a station besides its texts and its fuel. */
interface Marks {
  /** Numbers of its brand and of its opening hours in the model. */
  brand: number;
  hours: number;
  /** A bit for each grade that it sells. */
  sold: number;
}

function recordOf(
  fixed: string,
  json: string,
  text: string,
  { brand, hours, sold }: Marks,
  fuel: FuelBlock,
): number[] {
  const record = Array.from({ length: recordSize }, () => 0);
  // A digest of each fragment, summed over a result, is the same however the result is put together.
  const digest = hash("sha1", json, "hex");
  for (let lane = 0; lane < 3; lane++)
    record[field.hash + lane] = Number.parseInt(digest.slice(lane * 8, lane * 8 + 8), 16);
  record[field.fuel] = Buffer.byteLength(fixed);
  record[field.flags] = flagsOf(fuel) | (sold << soldShift);
  record[field.updatedS] = (parseTime(fuel.updated) ?? 0) / 1000;
  record[field.brand] = brand;
  record[field.hours] = hours;
  letterMaskOf(text).forEach((bits, lane) => (record[field.letterMask + lane] = bits));
  return record;
}

function flagsOf(fuel: FuelBlock): number {
  let flags = servedStatuses.indexOf(fuel.status);
  if (fuel.fuels_now !== "")
    for (const grade of fuel.fuels_now.split(","))
      flags |= 1 << (gradeShift + (grades as readonly string[]).indexOf(grade));
  if (fuel.queue !== "") flags |= (queues.indexOf(fuel.queue) + 1) << queueShift;
  if (fuel.prices !== undefined) flags |= pricedBit;
  if (fuel.chance !== undefined) flags |= (fuel.chance / chanceStep + 1) << chanceShift;
  return flags;
}

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
