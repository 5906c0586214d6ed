import { refused } from "#api/http/errors.ts";
import { sendJson } from "#api/http/respond.ts";
import { isUnchanged, presentStation, stationEtagOf, unchanged } from "#api/stations/format.ts";
import { reply } from "#api/openapi/answers.ts";
import { listExample, oneStation, stationExample } from "#src/contract/shapes/stations.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { type Db, isUnavailable } from "#src/infrastructure/db.ts";
import { candidates, stationIdIn, stationsByOwnId } from "#src/stations/own-ids.ts";

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
      description:
        "Ids come from the lists. Also finds the id of the station's source, percent-encoded as the source writes it, if one source alone has it, and `source:id`.",
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
      if (found === null) {
        const isServed = (one: string): boolean => model.station(one, clock()) !== null;
        const whole = await idByOwnId(db, id, isServed);
        [now, found] = [clock(), model.station(whole, clock())];
      }
      if (found === null) throw refused("station-not-found");
      const asOfMs = services.asOf(now);
      if (isUnchanged(ctx, stationEtagOf(ctx, found.sum), asOfMs)) return;
      sendJson(ctx, presentStation(found.fragment, asOfMs, services.config.statusLifetimeMs));
    },
  });

/** The id of the station that a source has under another id (decisions 14.47); refuses one that several have. */
async function idByOwnId(db: Db, own: string, isServed: (id: string) => boolean): Promise<string> {
  const found = await stationsByOwnId(db, [own]).catch((error: unknown) => {
    if (isUnavailable(error)) return new Map<string, never>();
    throw error;
  });
  const served = (found.get(own) ?? []).filter(({ id }) => isServed(id));
  if (new Set(served.map(({ id }) => id)).size > 1)
    throw refused(
      "station-not-found",
      `Several sources have a station of that id; send one of them: ${candidates(own, served)}.`,
    );
  return served[0]?.id ?? stationIdIn(own);
}
