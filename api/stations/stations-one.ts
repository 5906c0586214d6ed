import { LRUCache } from "lru-cache";
import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
import { isUnchanged, presentStation, stationEtagOf, unchanged } from "#api/stations/format.ts";
import { reply } from "#api/openapi/answers.ts";
import { listExample, oneStation, stationExample } from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { isUnavailable } from "#src/infrastructure/db.ts";
import { stationNamed } from "#src/stations/own-ids.ts";

/** GET /stations/{station_id}, docs/contract.md 4.4. Of one id that is none of ours Postgres is asked once in 10 s. */
export const oneStationRoute = (
  services: ReadDeps,
  named = new LRUCache<string, ReturnType<typeof stationNamed>>({ max: 10_000, ttl: 10_000 }),
) =>
  route({
    method: "GET",
    path: "/stations/{station_id}",
    access: "any",
    summary: "One station with its fuel status",
    answers: {
      operationId: "getStation",
      tag: "Stations",
      description:
        "Ids come from the lists. With a secret key it also finds the id of the station's source, percent-encoded as the source writes it, if one source alone has it, and `source:id`.",
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
    async handle(ctx) {
      const { model, clock, db } = services;
      const id = ctx.params["station_id"]!;
      let [now, found] = [clock(), model.station(id, clock())];
      if (found === null && ctx.state.key.kind === "secret") {
        const asked = named.get(id) ?? stationNamed(db, id);
        named.set(id, asked, { noUpdateTTL: true });
        // Without the database nobody knows the ids of sources.
        const own = await asked.catch((error: unknown) => {
          named.delete(id);
          if (!isUnavailable(error)) throw error;
        });
        if (own?.several !== undefined) throw refused("station-not-found", own.several);
        [now, found] = [clock(), model.station(own?.id ?? id, clock())];
      }
      if (found === null) throw refused("station-not-found");
      const asOfMs = services.asOf(now);
      if (isUnchanged(ctx, stationEtagOf(ctx, found.sum), asOfMs)) return;
      sendJson(ctx, presentStation(found.fragment, asOfMs, services.config.statusLifetimeMs));
    },
  });
