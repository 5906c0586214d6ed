// Durations are counted by spans of equal ratio: four to each doubling, so that a quantile is right within a tenth.
const perDoubling = 4;
/** Bucket 0 ends at 1/16 ms. */
const offset = 4 * perDoubling;
/** The last bucket takes every duration from two minutes on. */
const last = offset + 17 * perDoubling;

/** The number of the bucket of a duration in ms. */
export const bucketOf = (ms: number): number =>
  Math.min(last, Math.max(0, Math.ceil(Math.log2(ms) * perDoubling) + offset));

/** The middle of a bucket in ms, to three digits. */
const msOf = (bucket: number): number =>
  Number((2 ** ((bucket - offset - 0.5) / perDoubling)).toPrecision(3));

/**
 * The duration in ms that a share of all requests (0.5 for the median) did not exceed, within a tenth. `counts`:
 * requests by bucket. Null without requests.
 */
export function quantileMs(counts: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...counts].filter(([, n]) => n > 0).sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, n]) => sum + n, 0);
  let passed = 0;
  const found = sorted.find(([, n]) => (passed += n) >= share * total);
  return found === undefined ? null : msOf(found[0]);
}
