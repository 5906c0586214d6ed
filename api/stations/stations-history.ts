import { between } from "#src/contract/shapes/kinds.ts";
import { hash } from "node:crypto";
import { Type } from "typebox";
import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { reply } from "#api/openapi/answers.ts";
import { etagOf, isUnchanged, unchanged } from "#api/stations/format.ts";
import { historyExample, stationHistory } from "#src/contract/shapes/insights.ts";
import { runsWithin } from "#src/domain/view.ts";
import { formatTime, staleAfterHours } from "#src/domain/time.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { loadRuns } from "#src/marks/stored-runs.ts";

const hoursDefault = 48;

const query = Type.Object({
  hours: Type.Optional(between("How far back, in hours", 1, 168, hoursDefault)),
});

/** GET /stations/{station_id}/history, decisions 7.42. */
export const stationHistoryRoute = (services: ReadDeps) =>
  route({
    method: "GET",
    path: "/stations/{station_id}/history",
    access: "any",
    summary: "Which statuses a station served",
    answers: {
      operationId: "getStationHistory",
      tag: "Stations",
      description:
        "From when to when the station served each status. A mark that came late, a review and a rollback change what is behind.",
      replies: {
        200: {
          ...reply("The statuses, oldest first", stationHistory, historyExample),
          headers: ["ETag"],
        },
        ...unchanged(),
      },
      problems: ["station-not-found"],
      takes: ["If-None-Match"],
    },
    query,
    async handle(ctx) {
      const { config, clock, db, model } = services;
      const id = model.presentId(ctx.params["station_id"]!);
      const { hours = hoursDefault } = ctx.state.query;
      const now = clock();
      if (model.station(id, now) === null) throw refused("station-not-found");
      // A whole minute, so that the answer stays the same for so long.
      const from = Math.floor((now - hours * hourMs) / minuteMs) * minuteMs;
      const stored = (await loadRuns(db, id, from, config)) ?? [];
      const runs = runsWithin(stored, from, now).map(({ status, from: begin, to }) => ({
        ...{ status, from: formatTime(begin) },
        to: to === null ? null : formatTime(to),
      }));
      const content = { station_id: id, from: formatTime(from), runs };
      const sum = hash("sha1", JSON.stringify(content));
      const tagged = { route: "/history", query: [id, hours], count: runs.length, sum };
      if (isUnchanged(ctx, etagOf(ctx, tagged), now)) return;
      const stale = staleAfterHours(config.statusLifetimeMs);
      const rest = { as_of: formatTime(now), stale_after_hours: stale };
      sendJson(ctx, Buffer.from(JSON.stringify({ ...content, ...rest })));
    },
  });
