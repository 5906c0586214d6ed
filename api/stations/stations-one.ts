import { conditional, presentStation, stationEtagOf } from "#api/stations/presenters.ts";
import { oneStationAnswers } from "#api/stations/stations-answers.ts";
import { route } from "#api/http/route.ts";
import type { Services } from "#api/http/services.ts";
import { refuse } from "#src/contract/refusals.ts";

/** GET /stations/{station_id}, partner-api.md 4.4. */
export const oneStationRoute = (services: Services) =>
  route({
    method: "GET",
    path: "/stations/{station_id}",
    access: "any",
    summary: "One station with its fuel status",
    answers: oneStationAnswers,
    handle(request) {
      const now = services.clock();
      const id = request.params["station_id"] ?? "";
      const found = services.model.station(id, now);
      if (found === null)
        return refuse("station-not-found", "No station of that id; ids come from GET /stations.");
      const asOfMs = services.asOf(now);
      const { sum, fragment } = found;
      return conditional(request, { etag: stationEtagOf(request, sum), asOfMs }, () =>
        presentStation(fragment, asOfMs, services.config.statusLifetimeMs),
      );
    },
  });
