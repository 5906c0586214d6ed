import { type Refusal, refuse } from "#src/contract/refusals.ts";
import { minuteMs } from "#src/domain/units.ts";

/** Time after its receipt, the end included, in which a driver may take a mark of the map back (decisions 15.35). */
export const withdrawMs = 2 * minuteMs;

/** A mark of the device on the station. Times of receipt and of taking back, ms. */
export interface OwnMark {
  id: number;
  review: string;
  receivedAt: number;
  takenBackAt: number | null;
}

/**
 * The mark that a device may take back now, or the refusal. It must be its newest on that station, counted or held, of
 * the last two minutes, and the only one within a cooldown, so that nobody can flip a status. `marks`: the device's own
 * on that station, in any order. Pure.
 */
export function markToWithdraw(
  marks: readonly OwnMark[],
  now: number,
  { cooldownMs }: { cooldownMs: number },
): OwnMark | Refusal {
  const [newest] = [...marks].sort((a, b) => b.id - a.id);
  if (newest === undefined) return refuse(code, "This device has no mark on this station.");
  if (newest.takenBackAt !== null)
    return refuse(code, "This device has taken its mark on this station back already.");
  if (!["none", "held"].includes(newest.review))
    return refuse(code, "The operator has decided about this mark already.");
  if (now - newest.receivedAt > withdrawMs)
    return refuse(
      code,
      `This device's newest mark on this station is older than ${withdrawMs / minuteMs} minutes. Send a new mark when the cooldown is over.`,
    );
  const isRepeated = marks.some(
    ({ takenBackAt }) => takenBackAt !== null && now - takenBackAt < cooldownMs,
  );
  if (isRepeated)
    return refuse(
      code,
      `This device took a mark on this station back less than ${cooldownMs / minuteMs} minutes ago.`,
    );
  return newest;
}

const code = "nothing-to-take-back";
