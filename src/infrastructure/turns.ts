import { setImmediate as nextTurn } from "node:timers/promises";
import { createBatcher } from "#src/infrastructure/batcher.ts";

const turnMs = 10;
let latest: Promise<unknown> = Promise.resolve();

/** Waits for a turn of the event loop that no other caller of this has: many long works hold up others no more than one. */
export const ownTurn = (): Promise<unknown> => (latest = latest.then(() => nextTurn()));

/** Takes all steps, in short turns of the event loop, so that long work does not hold others up. Gives their result. */
export async function inTurns<T>(steps: Iterator<unknown, T>): Promise<T> {
  let endsAt = performance.now() + turnMs;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < endsAt) continue;
    await ownTurn();
    endsAt = performance.now() + turnMs;
  }
}

/** Works that may wait for their turn in `alone`. */
const waitingMost = 30;
let waiting = 0;
const works = createBatcher({
  ...{ atOnce: 1, max: 1 },
  run: async ([work]: readonly (() => Promise<unknown>)[]) => [await work!()],
});

/** Does this work while no other one of these is done, so that many at once take no more memory than one. */
export function alone<T>(work: () => Promise<T>): Promise<T> {
  waiting += 1;
  return works.add(work).finally(() => (waiting -= 1)) as Promise<T>;
}

/** True when so many works wait that another one would wait for long. */
export const isCrowded = (): boolean => waiting >= waitingMost;
