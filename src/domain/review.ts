import { advance } from "#src/domain/fold.ts";
import { isAlike } from "#src/domain/price-line.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import type { Mark, StationState } from "#src/domain/state.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { family, grades, type ServedStatus } from "#src/domain/vocabulary.ts";

/** A litre limit below this makes a station hardly worth the way. */
const lowLimitL = 20;

/** What counting a mark does to drivers (decisions 4.3). Equal statuses: a detail changed. */
export interface Harm {
  from: ServedStatus;
  to: ServedStatus;
  /** `first`: fuel where nothing was known, which does no harm by itself (decisions 4.19). */
  kind: "no" | "fuel" | "details" | "first";
  /** A `no` that still waits for another device: it has changed nothing yet. */
  isPending: boolean;
}

/**
 * True when a newcomer gave a station its first status: many such changes by one source are told to the operator.
 * `age`: since first seen, ms.
 */
export const isFirstByNewcomer = (
  { kind }: Harm,
  age: number,
  rules: { newcomerMs: number },
): boolean => kind === "first" && age < rules.newcomerMs;

/** The harm of a mark that led from one state to another, both seen at `at`, ms; null where it did none. */
export function harmOf(
  mark: Mark,
  before: StationState,
  after: StationState,
  at: number,
  rules: FoldRules,
): Harm | null {
  const [earlier, later] = [advance(before, at, rules), advance(after, at, rules)];
  const [was, is] = [earlier.served, later.served];
  const from: ServedStatus = was?.status ?? "nodata";
  const isPending = is?.status !== mark.status;
  const change = { from, to: mark.status, isPending };
  if (mark.status === "no" && from !== "no") return { ...change, kind: "no" };
  if (is === null || is === was || isPending) return null;
  if (was !== null && family(was.status) !== family(is.status)) return { ...change, kind: "fuel" };
  if (servesOutOfLine(mark, earlier, later, rules)) return { ...change, kind: "details" };
  if (was === null) return { ...change, kind: "first" };
  if (mark.status === "no") return null;
  const [had, has] = [was.details, is.details];
  const takesGrade = had.fuelsNow.some((grade) => has.fuelsNo.includes(grade));
  const limits = has.limitL !== null && has.limitL < lowLimitL && has.limitL !== had.limitL;
  const bars = (has.noCash && !had.noCash) || (has.fuelCardsOnly && !had.fuelCardsOnly);
  return takesGrade || limits || bars ? { ...change, kind: "details" } : null;
}

/** Whether a price that is out of line, of the mark or one like it, is served after the mark and was not before. */
const servesOutOfLine = (
  { prices, pricesNeeded }: Mark,
  before: StationState,
  after: StationState,
  rules: FoldRules,
): boolean =>
  grades.some((grade) => {
    const stated = pricesNeeded?.[grade] === undefined ? undefined : prices?.[grade];
    const served = after.prices.find((price) => price.grade === grade);
    if (stated === undefined || served === undefined) return false;
    const known = before.prices.find((price) => price.grade === grade);
    return served.price !== known?.price && isAlike(stated, served.price, rules);
  });

/**
 * Whether a harmful mark of this reporter may be held (decisions 4.4, 4.7). `age`: since first seen, ms, as are
 * the ages of the rules.
 */
export const mayBeHeld = (
  { kind }: Harm,
  age: number,
  rules: { establishedMs: number; newcomerMs: number },
): boolean =>
  kind !== "first" && age < rules.establishedMs && (kind === "no" || age < rules.newcomerMs);

/** What is known about harmful changes that counted, of the last day. */
export interface Ledger {
  /** By source or city: the stations that it changed, with the time of the last change, ms. */
  changed: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** By station: its last change. */
  last: ReadonlyMap<string, { from: ServedStatus; to: ServedStatus; at: number }>;
}

/** Where a harmful change happens, by whom, and what is allowed there. */
export interface Place {
  stationId: string;
  source: string;
  city: string;
  /** Stations that the source may change in an hour and in a day, and the city in an hour. */
  sourceLimit: number;
  sourceDailyLimit: number;
  cityLimit: number;
}

/**
 * Stations of a city that may be changed in an hour (decisions 4.6): a share, per cent, of the `stations` that
 * have a status there, or a number where that is more.
 */
export const cityLimitOf = (
  stations: number,
  rules: { cityHarmShare: number; cityHarmMin: number },
): number => Math.max(Math.ceil((stations * rules.cityHarmShare) / 100), rules.cityHarmMin);

/**
 * A source may do so many times in a day what it may do in an hour. In a launch more: there, honest users are as many
 * as new ones, all day.
 */
export const hoursADay = { usual: 4, launch: 12 } as const;
/** For a launch in a country of some 500 stations; measured by `npm run bench -- trust`. */
export const launchDefaults = { newUsers: 20_000, limit: 75 } as const;
/** What was changed within this time may be changed back by anybody. */
const restoreMs = 2 * hourMs;

/**
 * Which limit one more harmful change would pass at `now`, ms; null where it may count: a source's stations in an hour
 * or a day, or a city's in an hour. A station that is among them already adds nothing, and a change that leads back to
 * the family that the last one led away from is always allowed. A `no` that still waits counts for its source alone.
 */
export function passedLimit(
  { to, isPending }: Pick<Harm, "to" | "isPending">,
  place: Place,
  { changed, last }: Ledger,
  now: number,
): "source" | "city" | null {
  const before = last.get(place.stationId);
  if (before !== undefined && now - before.at < restoreMs && isBack(to, before)) return null;
  const others = (name: string, ms: number): number =>
    [...(changed.get(name) ?? [])].filter(([id, at]) => id !== place.stationId && at > now - ms)
      .length;
  const { source, city, sourceLimit, sourceDailyLimit, cityLimit } = place;
  if (others(source, hourMs) >= sourceLimit || others(source, dayMs) >= sourceDailyLimit)
    return "source";
  return !isPending && others(city, hourMs) >= cityLimit ? "city" : null;
}

const isBack = (to: ServedStatus, last: { from: ServedStatus; to: ServedStatus }): boolean =>
  to !== "nodata" &&
  last.from !== "nodata" &&
  last.to !== "nodata" &&
  family(last.from) === family(to) &&
  family(last.to) !== family(to);
