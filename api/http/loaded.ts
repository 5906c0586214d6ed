import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Step } from "#api/http/context.ts";
import type { Services } from "#api/http/services.ts";
import { refuse } from "#src/contract/refusals.ts";

const patienceMs = 2000;
const lookMs = 20;

/**
 * A process that has not read the stations yet can answer nothing about them. Reading them takes a moment, which its
 * first callers wait; 503 when it takes longer, as without database and without a snapshot it does.
 */
export function loaded({ follower }: Pick<Services, "follower">): Step {
  const wait = async (): Promise<Answer | undefined> => {
    const end = performance.now() + patienceMs;
    while (!follower.loaded() && performance.now() < end) await sleep(lookMs);
    if (follower.loaded()) return undefined;
    return refuse("upstream-unavailable", "The service is starting. Try again in a few seconds.", {
      retryAfterS: 5,
    });
  };
  return () => (follower.loaded() ? undefined : wait());
}
