import type { Box } from "#src/domain/geo.ts";
import { overlap } from "#web/widget/rectangles.ts";

interface ToldPart {
  box: Box;
  split: boolean;
  /** Time of the answer, ms. */
  at: number;
}

/**
 * The time of the stations that are shown of `view`, ms: the newest answer that covers a box of it, else the oldest of
 * those that cover a part; the oldest box counts. Null when no answer covers any of it.
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
