import { type Belief, fuelIn, scaled, weightOf } from "#src/domain/chance/belief.ts";
import { type Evidence, evidenceOf, heard, lyingPart } from "#src/domain/chance/evidence.ts";
import { type ChanceMark, isCopy, type Said } from "#src/domain/chance/mark.ts";
import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import { createPassage } from "#src/domain/chance/passage.ts";
import { createShares, type Learnt, type Speaker } from "#src/domain/chance/shares.ts";
import { order } from "#src/domain/state.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";

/** Marks of a station that a copy is looked for among, the newest. */
const recentMost = 12;

/** What is believed of a station, as plain data. */
export interface BelievedStation {
  /** The local minute of the belief and of the lies waiting. */
  minute: number;
  belief: Belief;
  /** Marks up to `countedAt`, ms; older ones have decayed. */
  count: number;
  countedAt: number;
  /** The latest marks within `copyMs` that were no copies. */
  recent: Said[];
  waiting: Waiting[];
}

/** What all stations share, as plain data. */
export interface SharedBeliefs extends Learnt {
  firstAt: number;
}

/** A mark that was no copy, at its local minute. */
export interface HeardMark {
  minute: number;
  /** Of lies, as it was believed of such a mark. */
  share: number;
  evidence: Evidence;
}

/** A mark that others have yet to judge: the part of the station's belief in which it lied. */
interface Waiting extends Speaker {
  at: number;
  /** Of lies, as it was believed when the mark came. */
  share: number;
  lied: Belief;
  judges: number;
}

/**
 * The chance of fuel at every station, from the marks that it takes: a hidden Markov model of each station, and shares of
 * lies that all of them share. `aheadMs`: by how much a station's local time is ahead of UTC. `stored`: where an earlier
 * one has left off. `onHeard` gets what a mark was worth, at which local minute.
 */
export function createChances(
  numbers: ChanceNumbers,
  aheadMs: (stationId: string) => number,
  passage = createPassage(numbers),
  stored?: SharedBeliefs,
  onHeard?: (stationId: string, heard: HeardMark) => void,
) {
  const shares = createShares(numbers.shares, stored);
  const stations = new Map<string, BelievedStation>();
  let firstAt = stored?.firstAt ?? Number.POSITIVE_INFINITY;
  let learns = true;

  const minuteOf = (stationId: string, at: number): number =>
    Math.floor((at + aheadMs(stationId)) / minuteMs);
  const decay = (ms: number): number => Math.exp(-ms / numbers.marks.decayMs);

  /**
   * Hears marks, in any order: they are sorted. No later call may bring a mark of the same second or an earlier one.
   * `teaches`: what is known of lies changes by them.
   */
  const take = (marks: readonly ChanceMark[], teaches = true): void => {
    learns = teaches;
    for (const mark of marks.toSorted(order)) takeOne(mark);
  };
  const takeOne = (mark: ChanceMark): void => {
    const { stationId, at } = mark;
    firstAt = Math.min(firstAt, at);
    const minute = minuteOf(stationId, at);
    const station = stations.get(stationId) ?? unheardOf(minute, at);
    stations.set(stationId, station);
    const perHour = rateOf(station, at);
    station.count = station.count * decay(at - station.countedAt) + 1;
    station.countedAt = at;
    station.recent = station.recent.filter((one) => at - one.at < numbers.copyMs);
    if (isCopy(mark, station.recent, numbers)) return;
    const { fuel, firstSeen, network, reporterId } = mark;
    const said = { at, fuel, firstSeen, network, reporterId };
    // Not spread: that leaves room for many more.
    station.recent = station.recent.slice(1 - recentMost).concat([said]);
    hear(station, mark, minute, perHour);
  };

  const unheardOf = (minute: number, at: number): BelievedStation => ({
    minute,
    belief: passage.prior(minute),
    count: 0,
    countedAt: at,
    recent: [],
    waiting: [],
  });

  /** The station's marks an hour, this one not among them. */
  const rateOf = ({ count, countedAt }: BelievedStation, at: number): number => {
    const { perHour, priorHours, decayMs } = numbers.marks;
    const hours = (decayMs / hourMs) * (1 - decay(at - firstAt));
    return (count * decay(at - countedAt) + perHour * priorHours) / (hours + priorHours);
  };

  const hear = (
    station: BelievedStation,
    mark: ChanceMark,
    minute: number,
    perHour: number,
  ): void => {
    const speaker = speakerOf(mark, numbers.newcomerMs);
    const share = shares.shareOf(speaker);
    const evidence = evidenceOf(numbers, mark.fuel, share, perHour, shares.odds());
    if (learns) shares.meet(speaker, share);
    onHeard?.(mark.stationId, { minute, share, evidence });
    const bring = (belief: Belief): Belief => passage.pass(belief, station.minute, minute);
    const before = bring(station.belief);
    const after = heard(before, evidence);
    const by = 1 / weightOf(after);
    const lied = scaled(lyingPart(before, evidence), by);
    const { fuel, newcomer, remote, sourceId, reporterId } = speaker;
    const { at } = mark;
    const own = { fuel, newcomer, remote, sourceId, reporterId, at, share, lied, judges: 0 };
    station.waiting = station.waiting
      .flatMap((one) => judged(one, at, bring, evidence, by))
      .concat([own]);
    station.belief = scaled(after, by);
    station.minute = minute;
  };

  /** A waiting mark after one more has spoken; nothing when it waits no longer. */
  const judged = (
    one: Waiting,
    at: number,
    bring: (belief: Belief) => Belief,
    evidence: Evidence,
    by: number,
  ): Waiting[] => {
    const isLate = at - one.at > numbers.judgedWithinMs;
    if (isLate && one.judges > 0) learn(one, one.lied, at);
    if (isLate) return [];
    const lied = scaled(heard(bring(one.lied), evidence), by);
    const judges = one.judges + 1;
    if (judges < numbers.judges) return [Object.assign(one, { lied, judges })];
    learn(one, lied, at);
    return [];
  };
  const learn = (one: Waiting, lied: Belief, at: number): void => {
    if (learns) shares.learn(one, one.share, weightOf(lied), at);
  };

  return {
    take,
    /**
     * Hears a station anew, from marks of this station alone: others have gone, or have come late. What is known of lies
     * stays as it is, because the marks have been judged before.
     */
    retake(stationId: string, marks: readonly ChanceMark[]): void {
      stations.delete(stationId);
      take(marks, false);
    },
    forget: (stationId: string): boolean => stations.delete(stationId),
    /** What an earlier one has believed of a station. */
    put: (stationId: string, station: BelievedStation): void =>
      void stations.set(stationId, station),
    get: (stationId: string): BelievedStation | undefined => stations.get(stationId),
    shared: (): SharedBeliefs => ({ firstAt, ...shares.learnt() }),
    /** From 0 to 1, at `at` or later than the last mark, ms; null while nobody has told of the station. */
    chanceAt(stationId: string, at: number): number | null {
      const station = stations.get(stationId);
      if (station === undefined) return null;
      return fuelIn(passage.pass(station.belief, station.minute, minuteOf(stationId, at)));
    },
    /** The share of lies that is believed of a speaker. */
    shareOf: shares.shareOf,
  };
}

const speakerOf = (
  { at, firstSeen, fuel, remote, sourceId, reporterId }: ChanceMark,
  newcomerMs: number,
): Speaker => ({ fuel, newcomer: at - firstSeen < newcomerMs, remote, sourceId, reporterId });
