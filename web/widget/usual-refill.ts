const leastRefills = 5;

/**
 * The part of the day in which fuel usually comes back, from the hours (0 to 23) at which it did: 0 the night until six,
 * then morning, afternoon, evening. Null where less than five times, or half of them, say so.
 */
export function usualRefill(
  hours: readonly number[],
): { part: 0 | 1 | 2 | 3; times: number; of: number } | null {
  if (hours.length < leastRefills) return null;
  for (const part of [0, 1, 2, 3] as const) {
    const times = hours.filter((hour) => Math.floor(hour / 6) === part).length;
    if (times * 2 > hours.length) return { part, times, of: hours.length };
  }
  return null;
}
