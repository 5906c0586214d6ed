import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
import { isUnchanged, presentStation, stationEtagOf, unchanged } from "#api/stations/format.ts";
import { reply } from "#api/openapi/answers.ts";
import { listExample, oneStation, stationExample } from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";

/** GET /stations/{station_id}, docs/contract.md 4.4. */
export const oneStationRoute = (services: ReadDeps) =>
  route({
    method: "GET",
    path: "/stations/{station_id}",
    access: "any",
    summary: "One station with its fuel status",
    answers: {
      operationId: "getStation",
      tag: "Stations",
      description: "Ids come from the lists.",
      replies: {
        200: {
          ...reply("The station", oneStation, {
            station: stationExample,
            as_of: listExample.as_of,
            stale_after_hours: 24,
          }),
          headers: ["ETag"],
        },
        ...unchanged(),
      },
      problems: ["station-not-found"],
      takes: ["If-None-Match"],
    },
    handle(ctx) {
      const now = services.clock();
      const found = services.model.station(ctx.params["station_id"]!, now);
      if (found === null) throw refused("station-not-found");
      const asOfMs = services.asOf(now);
      if (isUnchanged(ctx, stationEtagOf(ctx, found.sum), asOfMs)) return;
      sendJson(ctx, presentStation(found.fragment, asOfMs, services.config.statusLifetimeMs));
    },
  });
