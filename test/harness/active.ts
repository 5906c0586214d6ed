import { setTimeout as sleep } from "node:timers/promises";

const graceMs = 30_000;
/** Mocha's timer of the hook that asks. */
const hookTimeout = "Timeout";

/** What keeps this process alive, by kind. */
export const activeResources = (): string[] => process.getActiveResourcesInfo();

/**
 * What keeps this process alive and did not before: a test has left it running. Sockets and timers that are on their way
 * out get some seconds.
 */
export async function newResources(before: readonly string[]): Promise<string[]> {
  const known = [...before, hookTimeout];
  let extra: string[] = [];
  for (const end = Date.now() + graceMs; Date.now() < end; await sleep(20)) {
    extra = [...activeResources()];
    for (const kind of known) {
      const at = extra.indexOf(kind);
      if (at >= 0) extra.splice(at, 1);
    }
    if (extra.length === 0) return [];
  }
  return extra;
}
