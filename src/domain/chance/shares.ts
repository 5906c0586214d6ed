import type { SharesNumbers } from "#src/domain/chance/numbers.ts";

/** Who says what. */
export interface Speaker {
  fuel: boolean;
  newcomer: boolean;
  remote: boolean;
  /** The key of a partner, or a feed below 0; null for a device, which has no source. */
  sourceId: number | null;
  reporterId: number;
}

/** The odds of a lie, if somebody says fuel, and if none. */
export interface LieOdds {
  fuel: number;
  none: number;
}

export const oddsOf = (share: number): number => share / (1 - share);

/** Judged marks, and a part of one for the lies among them: one number, because there is one for every reporter. */
type Tally = number;
const liesPart = 1024;
const tallyOf = (marks: number, lies: number): Tally => marks + lies / liesPart;
const marksIn = (tally: Tally): number => Math.floor(tally);
const liesIn = (tally: Tally): number => (tally - Math.floor(tally)) * liesPart;

/** What is learnt, as JSON can hold it. */
export interface Learnt {
  classes: [string, Tally][];
  sources: [string, Tally][];
  reporters: [number, Tally][];
  earlier: [number, Tally][];
  turn: number;
  /** Of the people who come, in the mean; liars hardly count. */
  odds: LieOdds;
}

/**
 * Shares of lies, learnt from marks as they are judged: of a class (newcomers or not, at the station or not, by what they
 * say), of a source by what it says, and of a reporter. Each shrinks to the one above.
 */
export function createShares(
  { first, doubt, eagerness, keptMs, people, ...levels }: SharesNumbers,
  stored?: Learnt,
) {
  const classes = new Map<string, Tally>(stored?.classes);
  const sources = new Map<string, Tally>(stored?.sources);
  /** Reporters judged in this turn of `keptMs`, and in the one before: who is in neither is forgotten. */
  let reporters = new Map<number, Tally>(stored?.reporters);
  let earlier = new Map<number, Tally>(stored?.earlier);
  let turn = stored?.turn ?? -Infinity;
  const odds = { ...(stored?.odds ?? { fuel: oddsOf(first), none: oddsOf(first) }) };
  const ofReporter = (id: number): Tally | undefined => reporters.get(id) ?? earlier.get(id);
  const turnTo = (next: number): void => {
    if (next <= turn) return;
    earlier = next === turn + 1 ? reporters : new Map();
    reporters = new Map();
    turn = next;
  };

  const shareOf = (speaker: Speaker): number => {
    const ofClass = shrunk(classes.get(classOf(speaker)), first, levels.class);
    const ofSource =
      speaker.sourceId === null
        ? ofClass
        : shrunk(sources.get(sourceOf(speaker)), ofClass, levels.source);
    return shrunk(ofReporter(speaker.reporterId), ofSource, levels.reporter);
  };

  return {
    /** The share of lies among marks like this one, from 0 to below 1. */
    shareOf,
    odds: (): LieOdds => odds,
    /** Somebody has spoken, a lie with the chance `share`. */
    meet(speaker: Speaker, share: number): void {
      const by = (1 - share) / people;
      for (const says of ["fuel", "none"] as const) {
        const own = oddsOf(shareOf({ ...speaker, fuel: says === "fuel" }));
        odds[says] += (own - odds[says]) * by;
      }
    },
    /** `share`: what was believed when the mark came. `lied`: what is at `at`, ms, now that others have spoken. */
    learn(speaker: Speaker, share: number, lied: number, at: number): void {
      turnTo(Math.floor(at / keptMs));
      const guilt = Math.max(0, lied - doubt);
      const eager = Math.min(1, Math.max(0, share + eagerness * (lied - share) - doubt));
      const { reporterId } = speaker;
      note(classes, classOf(speaker), eager, levels.class);
      if (speaker.sourceId !== null) note(sources, sourceOf(speaker), guilt, levels.source);
      reporters.set(reporterId, noted(ofReporter(reporterId), guilt, levels.reporter));
      earlier.delete(reporterId);
    },
    /** What is known of each kind of mark, of each source's marks and of each reporter. */
    told: () => ({
      classes: [...classes].map(([key, tally]) => {
        const [newcomer, remote, says] = key.split(" ");
        const share = shrunk(tally, first, levels.class);
        return {
          ...{ newcomer: newcomer === "true", remote: remote === "true", fuel: says === "fuel" },
          ...{ share, judged: marksIn(tally) },
        };
      }),
      sources: [...sources].map(([key, tally]) => {
        const [id, says] = key.split(" ");
        return { sourceId: Number(id), fuel: says === "fuel", judged: marksIn(tally) };
      }),
      reporters: [...earlier, ...reporters].map(([reporterId, tally]) => {
        const share = shrunk(tally, first, levels.reporter);
        return { reporterId, share, judged: marksIn(tally) };
      }),
    }),
    learnt: (): Learnt => ({
      classes: [...classes],
      sources: [...sources],
      reporters: [...reporters],
      earlier: [...earlier],
      ...{ turn, odds: { ...odds } },
    }),
  };
}

const saysOf = (fuel: boolean): string => (fuel ? "fuel" : "none");
const classOf = ({ fuel, newcomer, remote }: Speaker): string =>
  `${newcomer} ${remote} ${saysOf(fuel)}`;
const sourceOf = ({ fuel, sourceId }: Speaker): string => `${sourceId} ${saysOf(fuel)}`;

type Level = SharesNumbers["class"];

function shrunk(tally: Tally = 0, above: number, { prior, most }: Level): number {
  return Math.min(most, (prior * above + liesIn(tally)) / (prior + marksIn(tally)));
}

function noted(tally: Tally = 0, lies: number, { window }: Level): Tally {
  const kept = Math.min(1, (window - 1) / Math.max(1, marksIn(tally)));
  return tallyOf(Math.round(marksIn(tally) * kept) + 1, liesIn(tally) * kept + lies);
}

function note<K>(tallies: Map<K, Tally>, key: K, lies: number, level: Level): void {
  tallies.set(key, noted(tallies.get(key), lies, level));
}
