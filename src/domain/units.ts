export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
/** A UTC day: it has no leap second. */
export const dayMs = 24 * hourMs;

export const hourS = hourMs / secondMs;
export const dayS = dayMs / secondMs;
