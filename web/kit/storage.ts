import { recallCookie, rememberCookie } from "#web/kit/partitioned-cookie.ts";

/** What could not be stored: newer than what is. */
const memory = new Map<string, string>();

/**
 * The value that this browser remembers for this page: in its storage, for a frame without storage in a cookie of its
 * own partition, else for as long as the page is open.
 */
export function recall(name: string): string | null {
  const unstored = memory.get(name);
  if (unstored !== undefined) return unstored;
  try {
    return localStorage.getItem(name);
  } catch {
    return recallCookie(name);
  }
}

/** Remembers `value` under `name`; null forgets it. */
export function remember(name: string, value: string | null): void {
  memory.delete(name);
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Full or forbidden: it stays in memory, and in the cookie if there may be one.
    if (value !== null) memory.set(name, value);
    rememberCookie(name, value);
  }
}
