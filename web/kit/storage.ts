const memory = new Map<string, string>();

/**
 * What this browser remembers for this page. In a partitioned or blocked storage it is remembered for as long as the
 * page is open.
 */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
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
    // Full or forbidden: it stays in memory.
  }
}
