import type { Step } from "#api/context.ts";
import type { Services } from "#api/services.ts";
import { refuse } from "#src/domain/problems.ts";

/** A process that has not read the stations yet can answer nothing about them: 503 until it has. */
export const loaded =
  ({ follower }: Services): Step =>
  (_ctx, next) =>
    follower.readAt() > 0
      ? next()
      : refuse("upstream-unavailable", "The service is starting. Try again in a few seconds.", {
          retryAfterS: 5,
        });
