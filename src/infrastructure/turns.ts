import { setImmediate as nextTurn } from "node:timers/promises";

const turnMs = 10;

/** Takes all steps, in short turns of the event loop, so that long work does not hold others up. Gives their result. */
export async function inTurns<T>(steps: Iterator<unknown, T>): Promise<T> {
  let endsAt = performance.now() + turnMs;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < endsAt) continue;
    await nextTurn();
    endsAt = performance.now() + turnMs;
  }
}
