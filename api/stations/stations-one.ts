import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
import { isUnchanged, presentStation, stationEtagOf } from "#api/stations/presenters.ts";
import { oneStationAnswers } from "#api/stations/stations-answers.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";

/** GET /stations/{station_id}, docs/contract.md 4.4. */
export const oneStationRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/stations/{station_id}",
    access: "any",
    summary: "One station with its fuel status",
    answers: oneStationAnswers,
    handle(ctx) {
      const now = services.clock();
      const found = services.model.station(ctx.params["station_id"]!, now);
      if (found === null)
        throw refused("station-not-found", "No station of that id; ids come from GET /stations.");
      const asOfMs = services.asOf(now);
      if (isUnchanged(ctx, stationEtagOf(ctx, found.sum), asOfMs)) return;
      sendJson(ctx, presentStation(found.fragment, asOfMs, services.config.statusLifetimeMs));
    },
  });
