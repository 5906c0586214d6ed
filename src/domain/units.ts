export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
/** A UTC day: it has no leap second. */
export const dayMs = 24 * hourMs;

export const hourS = hourMs / secondMs;
export const dayS = dayMs / secondMs;

/** The pause after `tries` failures in a row but for the first, ms: each one is `growth` times as long, up to `longestMs`. */
export const pauseMs = (tries: number, firstMs: number, longestMs: number, growth = 2): number =>
  Math.min(firstMs * growth ** tries, longestMs);
