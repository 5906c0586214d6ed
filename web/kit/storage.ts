import { recallCookie, rememberCookie } from "#web/kit/partitioned-cookie.ts";

const memory = new Map<string, string>();

/**
 * The value that this browser remembers for this page: in its storage, for a frame without storage in a cookie of its
 * own partition, else for as long as the page is open.
 */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? recallCookie(name);
  }
}

/** Remembers `value` under `name`; null forgets it. */
export function remember(name: string, value: string | null): void {
  if (value === null) memory.delete(name);
  else memory.set(name, value);
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Full or forbidden: it stays in memory, and in the cookie if there may be one.
    rememberCookie(name, value);
  }
}
