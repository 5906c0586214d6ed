import type { SharesNumbers } from "#src/domain/chance/numbers.ts";

/** Who says what. */
export interface Speaker {
  fuel: boolean;
  newcomer: boolean;
  remote: boolean;
  /** Whose user it is; null for a device, which has no source. */
  partnerId: number | null;
  reporterId: number;
}

interface Tally {
  marks: number;
  lies: number;
}

/**
 * Shares of lies, learnt from marks as they are judged: of a class (newcomers or not, at the station or not, by what they
 * say), of a partner by what it says, and of a reporter. Each shrinks to the one above.
 */
export function createShares({ first, doubt, eagerness, ...levels }: SharesNumbers) {
  const classes = new Map<string, Tally>();
  const partners = new Map<string, Tally>();
  const reporters = new Map<number, Tally>();

  return {
    /** The share of lies among marks like this one, from 0 to below 1. */
    shareOf(speaker: Speaker): number {
      const ofClass = shrunk(classes.get(classOf(speaker)), first, levels.class);
      const ofPartner =
        speaker.partnerId === null
          ? ofClass
          : shrunk(partners.get(partnersOf(speaker)), ofClass, levels.partner);
      return shrunk(reporters.get(speaker.reporterId), ofPartner, levels.reporter);
    },
    /** `share`: what was believed when the mark came. `lied`: what is, now that others have spoken. */
    learn(speaker: Speaker, share: number, lied: number): void {
      const guilt = Math.max(0, lied - doubt);
      const eager = Math.min(1, Math.max(0, share + eagerness * (lied - share) - doubt));
      note(classes, classOf(speaker), eager, levels.class);
      if (speaker.partnerId !== null) note(partners, partnersOf(speaker), guilt, levels.partner);
      note(reporters, speaker.reporterId, guilt, levels.reporter);
    },
  };
}

const saysOf = (fuel: boolean): string => (fuel ? "fuel" : "none");
const classOf = ({ fuel, newcomer, remote }: Speaker): string =>
  `${newcomer} ${remote} ${saysOf(fuel)}`;
const partnersOf = ({ fuel, partnerId }: Speaker): string => `${partnerId} ${saysOf(fuel)}`;

type Level = SharesNumbers["class"];

function shrunk(tally: Tally | undefined, above: number, { prior, most }: Level): number {
  const { marks, lies } = tally ?? { marks: 0, lies: 0 };
  return Math.min(most, (prior * above + lies) / (prior + marks));
}

function note<K>(tallies: Map<K, Tally>, key: K, lies: number, { window }: Level): void {
  const tally = tallies.get(key) ?? { marks: 0, lies: 0 };
  const kept = Math.min(1, (window - 1) / Math.max(1, tally.marks));
  tallies.set(key, { marks: tally.marks * kept + 1, lies: tally.lies * kept + lies });
}
