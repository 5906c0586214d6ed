import { text } from "#src/contract/shapes/kinds.ts";
import { Readable } from "node:stream";
import { Type } from "typebox";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { readSince } from "#api/stations/stations-delta.ts";
import { listExample } from "#src/contract/shapes/stations.ts";

const query = Type.Object({
  updated_since: Type.Optional(
    text(
      "Where your copy ends, as on /stations/delta; without it and without `Last-Event-ID` the stream begins now",
      { examples: ["2026-01-31 18:05:00"] },
    ),
  ),
});

const eventExample = { ...listExample, removed: ["w4711"] };

/** GET /stations/stream, decisions 7.33 to 7.40. */
export const streamRoute = ({ clock, streams }: ReadDeps) =>
  route({
    method: "GET",
    path: "/stations/stream",
    access: "secret",
    summary: "Stations as they change, as server-sent events",
    answers: {
      operationId: "streamChanges",
      tag: "Stations",
      description:
        "The delta without asking again. `data` of each event is what /stations/delta answers (StationDelta) for what has changed, `id` is its `as_of`. When the stream ends, open it again with the last `id` as `Last-Event-ID`: a change may come twice, and never zero times. Comments are heartbeats; their `id` moves the cursor on. No filters, as on the delta. Counted once, when it is opened.",
      replies: {
        200: {
          description: "Events until one side closes the connection; never compressed.",
          headers: ["X-Accel-Buffering"],
          forms: {
            "text/event-stream": {
              schema: text("Server-sent events (WHATWG HTML 9.2)"),
              example: `id: ${listExample.as_of}\ndata: ${JSON.stringify(eventExample)}\n\n`,
            },
          },
        },
      },
      problems: ["bad-timestamp", "window-too-old", "too-many-streams"],
      takes: ["Last-Event-ID"],
    },
    query,
    handle(ctx) {
      const { key, requestId, query } = ctx.state;
      const now = clock();
      // `Last-Event-ID` is newer than the address, because browsers open the same address again.
      const seen = ctx.get("Last-Event-ID");
      const since = seen === "" ? query.updated_since : seen;
      const name = seen === "" ? "updated_since" : "Last-Event-ID";
      const sinceMs = since === undefined ? null : readSince(since, now, name);
      ctx.body =
        ctx.method === "HEAD" ? Readable.from([]) : streams.open({ key, requestId, sinceMs });
      ctx.set({
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
        // nginx and others like it would hold events back until a buffer is full.
        "X-Accel-Buffering": "no",
      });
    },
  });
