import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Step } from "#api/context.ts";
import type { Services } from "#api/services.ts";
import { refuse } from "#src/domain/problems.ts";

const patienceMs = 2000;
const lookMs = 20;

/**
 * A process that has not read the stations yet can answer nothing about them. Reading them takes a moment, which its
 * first callers wait; 503 when it takes longer, as without database and without a snapshot it does.
 */
export function loaded({ follower }: Services): Step {
  const wait = async (next: () => Promise<Answer>): Promise<Answer> => {
    const end = performance.now() + patienceMs;
    while (!follower.loaded() && performance.now() < end) await sleep(lookMs);
    if (follower.loaded()) return next();
    return refuse("upstream-unavailable", "The service is starting. Try again in a few seconds.", {
      retryAfterS: 5,
    });
  };
  return (_ctx, next) => (follower.loaded() ? next() : wait(next));
}
