import type { Sentence } from "#src/contract/sentences.ts";

/** A part's state: in sentences, or in figures. One that is not ok stops the process from serving only when `critical`. */
export interface Condition {
  ok: boolean;
  critical?: boolean;
  says?: readonly (Sentence | string)[];
  detail?: unknown;
}

/** A part of a process. Both may be called once, `start` first; `stop` also without a `start`, or during it. */
export interface Part {
  start?(): Promise<unknown> | void;
  stop?(): Promise<unknown> | void;
}

/** Starts parts together, and stops them one after the other, the last one first. List each part once. */
export function createParts(...parts: Part[]) {
  return {
    start: async (): Promise<void> => {
      await Promise.all(parts.map(async (part) => part.start?.()));
    },
    /** Stops all of them, and then rejects with the first fault. */
    stop: async (): Promise<void> => {
      const faults: unknown[] = [];
      for (const part of parts.toReversed())
        await (async () => part.stop?.())().catch((error: unknown) => faults.push(error));
      if (faults.length > 0) throw faults[0];
    },
  };
}
