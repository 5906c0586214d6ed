import { advance } from "#src/domain/fold.ts";
import { isAlike } from "#src/domain/price-line.ts";
import type { FoldRules } from "#src/domain/rules.ts";
import type { Mark, StationState } from "#src/domain/state.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { family, grades, type ServedStatus } from "#src/domain/vocabulary.ts";

/** A station with a litre limit below this is hardly worth the way. */
const lowLimitL = 20;

/** The effect of a counted mark on drivers (decisions 4.3). Equal statuses: a detail changed. */
export interface Harm {
  from: ServedStatus;
  to: ServedStatus;
  /** `first`: fuel at a station without a known status, which is harmless by itself (decisions 4.19). */
  kind: "no" | "fuel" | "details" | "first";
  /** True for a `no` that still waits for another device: it has changed nothing yet. */
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

/** The harm of a mark that led from one state to another, both seen at `at`, ms; null without harm. */
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

/** True if the mark makes a price out of line served, its own or a similar one, that was not served before. */
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
 * True if a harmful mark of this reporter may be held (decisions 4.4, 4.7). `age`: since first seen, ms, as in the
 * rules.
 */
export const mayBeHeld = (
  { kind }: Harm,
  age: number,
  rules: { establishedMs: number; newcomerMs: number },
): boolean =>
  kind !== "first" && age < rules.establishedMs && (kind === "no" || age < rules.newcomerMs);

/** The harmful changes of the last day that counted. */
export interface Ledger {
  /** Changed stations with the time of their last change, ms, by source and by city. */
  changed: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The last change of each station. */
  last: ReadonlyMap<string, { from: ServedStatus; to: ServedStatus; at: number }>;
}

/** The place and source of a harmful change, with their limits. */
export interface HarmScope {
  stationId: string;
  source: string;
  city: string;
  /** Stations that may be changed by the source in an hour and in a day, and in the city in an hour. */
  sourceLimit: number;
  sourceDailyLimit: number;
  cityLimit: number;
}

/**
 * Stations of a city that may be changed in an hour (decisions 4.6): a share, per cent, of the `stations` that have a
 * status there, but at least `cityHarmMin`.
 */
export const cityLimitOf = (
  stations: number,
  rules: { cityHarmPercent: number; cityHarmMin: number },
): number => Math.max(Math.ceil((stations * rules.cityHarmPercent) / 100), rules.cityHarmMin);

/**
 * A source's daily limit as a multiple of its hourly one. It is higher in a launch, when all day the honest users are
 * as many as the new ones.
 */
export const hoursADay = { usual: 4, launch: 12 } as const;
/** For a launch in a country of some 500 stations; measured by `npm run bench -- trust`. */
export const launchDefaults = { newUsers: 20_000, limit: 75 } as const;
/** Anybody may take back a change within this time. */
const restoreMs = 2 * hourMs;

/**
 * The limit that one more harmful change would pass at `now`, ms: a source's stations in an hour or a day, or a city's
 * in an hour; null if it may count. A station that was already counted adds nothing, and a change back to the family
 * before the last change is always allowed. A `no` that still waits counts only for its source.
 */
export function passedLimit(
  { to, isPending }: Pick<Harm, "to" | "isPending">,
  place: HarmScope,
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
