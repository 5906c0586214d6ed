import { Type } from "typebox";
import { refused } from "#api/http/errors.ts";
import { etagOf, refuseCrowd, unchanged } from "#api/stations/format.ts";
import { reply } from "#api/openapi/answers.ts";
import { listExample, stationDelta } from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { parseTime } from "#src/domain/time.ts";
import { hourS, minuteMs } from "#src/domain/units.ts";

const windowS = 48 * hourS;

const query = Type.Object({
  updated_since: Type.String({
    description: "UTC, YYYY-MM-DD HH:MM:SS or ISO 8601; at most 48 hours ago",
    examples: ["2026-01-31 18:05:00"],
  }),
});

/** GET /stations/delta, docs/contract.md 4.3. */
export const deltaRoute = (services: ReadDeps) =>
  route({
    method: "GET",
    path: "/stations/delta",
    access: "secret",
    summary: "Stations changed since a moment",
    answers: {
      operationId: "listChanges",
      tag: "Stations",
      description:
        "Take `as_of` of the answer before. A change may come twice, and never zero times. No filters: a station that leaves one must not be hidden from your copy. `digest` tells whether your copy is right.",
      replies: {
        200: {
          ...reply(
            "Stations whose status or entry changed since then, and those taken out.",
            stationDelta,
            {
              ...listExample,
              removed: ["w4711"],
              digest: "5f0c61d2a9b04e7718c3d6ff",
            },
          ),
          headers: ["ETag"],
        },
        ...unchanged(),
      },
      problems: ["bad-timestamp", "window-too-old"],
      takes: ["If-None-Match"],
    },
    query,
    async handle(ctx) {
      const now = services.clock();
      const sinceMs = readSince(ctx.state.query.updated_since, now);
      const asOfMs = services.asOf(now);
      let hasWaited = false;
      const found = await services.model.delta(sinceMs, now, () => {
        refuseCrowd();
        hasWaited = true;
      });
      const { count, sum, removed, mergedInto, digest } = found;
      const etag = etagOf(ctx, {
        route: "/stations/delta",
        query: [sinceMs, removed, mergedInto, digest],
        count,
        sum,
      });
      const lifetimeMs = services.config.statusLifetimeMs;
      const rest = { count, asOfMs, lifetimeMs, truncated: false, removed, mergedInto, digest };
      await services.lists.send(ctx, { etag, answer: found, rest, format: "json", hasWaited });
    },
  });

/** A cursor in ms. Throws the refusal of one that cannot be read, or lies too far back. */
export function readSince(text: string, now: number, name = "updated_since"): number {
  const sinceMs = parseTime(text);
  if (sinceMs === null)
    throw refused(
      "bad-timestamp",
      `${name} is UTC, YYYY-MM-DD HH:MM:SS or ISO 8601: take as_of of the answer before.`,
    );
  // Whole seconds are compared: a caller that counted 48 h back from the same second is not too late.
  if (Math.floor(now / 1000) - Math.floor(sinceMs / 1000) > windowS)
    throw refused(
      "window-too-old",
      `${name} may be at most 48 hours ago. Take GET /stations/all again, and go on from its as_of.`,
    );
  // The cursor is of a clock that was wrong: the changes since are unknown, so all of the window are sent.
  return sinceMs > now + minuteMs ? now - windowS * 1000 : sinceMs;
}
