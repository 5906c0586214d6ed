import type { ChanceNumbers } from "#src/domain/chance/numbers.ts";
import type { Speaker } from "#src/domain/chance/shares.ts";
import type { Position } from "#src/domain/state.ts";

/** A counted mark, as much of it as the model uses. Times in ms. */
export interface ChanceMark extends Position, Omit<Speaker, "newcomer"> {
  stationId: string;
  /** When its reporter was first seen. */
  firstSeen: number;
  /** The viewer's network, where its newcomers are one hand; null for a partner's user and a shared network. */
  network: string | null;
}

/** What is remembered of a mark to know its copies. */
export type Said = Pick<ChanceMark, "at" | "fuel" | "firstSeen" | "network" | "reporterId">;

/**
 * True if the same hand has just said the same at this station: the same person, people first seen at nearly the same
 * time, or newcomers of one network. `recent`: marks of the station within `copyMs`, the latest last.
 */
export function isCopy(
  mark: Said,
  recent: readonly Said[],
  numbers: Pick<ChanceNumbers, "sameHandMs" | "newcomerMs">,
): boolean {
  const isNew = ({ firstSeen }: Said): boolean => mark.at - firstSeen < numbers.newcomerMs;
  const last = recent.findLast(
    (one) =>
      one.reporterId === mark.reporterId ||
      Math.abs(one.firstSeen - mark.firstSeen) < numbers.sameHandMs ||
      (mark.network !== null && one.network === mark.network && isNew(one) && isNew(mark)),
  );
  return last?.fuel === mark.fuel;
}
