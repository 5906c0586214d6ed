import type { Box } from "#src/domain/geo.ts";
import { overlap } from "#web/widget/rectangles.ts";

interface ToldPart {
  box: Box;
  split: boolean;
  /** When it was said, ms. */
  at: number;
}

/**
 * From when what is shown of `view` is: the newest answer that holds all of a box of it, else the oldest of those that
 * hold some; of several boxes the oldest. Null where nothing is held.
 */
export function toldAt(parts: readonly ToldPart[], view: readonly Box[]): number | null {
  const times = view.flatMap((box) => {
    const here = parts.filter((part) => !part.split && overlap(part.box, box));
    if (here.length === 0) return [];
    const whole = here.filter((part) => covers(part.box, box)).map(({ at }) => at);
    return whole.length > 0 ? Math.max(...whole) : Math.min(...here.map(({ at }) => at));
  });
  return times.length === 0 ? null : Math.min(...times);
}

const covers = (outer: Box, inner: Box): boolean =>
  outer.south <= inner.south &&
  outer.west <= inner.west &&
  outer.north >= inner.north &&
  outer.east >= inner.east;
