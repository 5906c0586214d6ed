import { named } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { orThrow, Refused } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import type { ReadDeps } from "#api/stations/deps.ts";
import { reply } from "#api/openapi/answers.ts";
import { stationsMax } from "#api/stations/stations.ts";
import { sendAs } from "#api/stations/format.ts";
import { filterParameters, isSwapped, readFilters } from "#api/stations/stations-query.ts";
import { type Refusal, refuse } from "#src/contract/refusals.ts";
import { listExample, stationsAlong } from "#src/contract/shapes/stations.ts";
import type { Box, Point } from "#src/domain/geo.ts";
import { decodePolyline } from "#src/domain/polyline.ts";
import { lengthOf } from "#src/domain/way.ts";

const pointsMax = 2000;
const lengthMaxM = 5_000_000;
const bufferDefaultM = 500;
const marginDegrees = 0.05;

const lineString = Type.Object({
  type: Type.Literal("LineString", { description: "As GeoJSON demands it" }),
  coordinates: Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 3 }), {
    ...{ minItems: 2, maxItems: pointsMax },
    description: "Longitude, latitude",
  }),
});
const way = named("Way", {
  line: Type.Union(
    [
      Type.String({ minLength: 1, description: "An encoded polyline of five decimals" }),
      lineString,
    ],
    { description: `2 to ${pointsMax} points, at most ${lengthMaxM / 1000} km` },
  ),
  buffer_m: Type.Optional(
    Type.Union([Type.Number({ minimum: 1, maximum: 5000 }), Type.Null()], {
      description: `Metres from the line; ${bufferDefaultM} where nothing is said`,
    }),
  ),
});

/** POST /stations/along: the stations beside a way, decisions 7.32. */
export const alongRoute = (services: ReadDeps) =>
  route({
    method: "POST",
    path: "/stations/along",
    access: "secret",
    summary: "Stations along a way, in its order",
    answers: {
      operationId: "listStationsAlong",
      tag: "Stations",
      description:
        "The line is a GeoJSON LineString or an encoded polyline, as routers give it. Filters are parameters of the query, applied before the cut at 4000.",
      replies: {
        200: reply("The stations in the order of the way", stationsAlong, {
          ...listExample,
          along: [{ id: "n1234567", at_m: 1200, off_m: 35 }],
        }),
      },
      problems: ["bad-grade"],
      bodyExamples: {
        "an encoded polyline": { line: "_p~iF~ps|U_ulLnnqC_mqNvxq`@", buffer_m: 300 },
        "a GeoJSON line": {
          line: {
            type: "LineString",
            coordinates: [
              [82.9, 55],
              [83.1, 54.8],
            ],
          },
        },
      },
    },
    query: Type.Object(filterParameters),
    body: way,
    async handle(ctx) {
      const { query, body } = ctx.state;
      const { filters } = orThrow(readFilters(query));
      const { line } = orThrow(readLine(body.line));
      if (filters.opened !== undefined) await services.model.readHours(services.clock());
      const bounds = boundsOf(line);
      const mayBeSwapped = typeof body.line !== "string";
      if (mayBeSwapped && isSwapped(services.model, bounds)) throw new Refused(latitudeFirst);
      const now = services.clock();
      const bufferM = body.buffer_m ?? bufferDefaultM;
      const limit = stationsMax;
      const found = services.model.along({ line, bufferM, filters, limit, now });
      const { count, truncated, along } = found;
      if (mayBeSwapped && count === 0 && !services.model.locations.isInside(boxOf(bounds))) {
        // A line without stations may have latitude and longitude swapped: then the other order leads past some.
        const other = line.map(({ lat, lon }) => ({ lat: lon, lon: lat }));
        const isOnGlobe = other.every(({ lat }) => Math.abs(lat) <= 90);
        const query = { line: other, bufferM, filters: {}, limit: 1, now };
        if (isOnGlobe && services.model.along(query).count > 0) throw new Refused(latitudeFirst);
      }
      const lifetimeMs = services.config.statusLifetimeMs;
      const rest = { count, asOfMs: services.asOf(now), lifetimeMs, truncated, along };
      sendAs(ctx, "json", found, rest);
    },
  });

/** Reads the points of the line, or refuses a text that is no line, or one that is too long. */
function readLine(given: Static<typeof way>["line"]): { line: Point[] } | Refusal {
  const isText = typeof given === "string";
  const line = isText
    ? decodePolyline(given)
    : given.coordinates.map(([lon, lat]) => ({ lat: lat as number, lon: lon as number }));
  if (line === null)
    return invalid([], "Not a readable encoded polyline of five decimals", "polyline");
  if (line.length < 2 || line.length > pointsMax)
    return invalid([], `Give 2 to ${pointsMax} points`, line.length < 2 ? "too_short" : "too_long");
  const wrong = line.findIndex(({ lat, lon }) => Math.abs(lat) > 90 || Math.abs(lon) > 180);
  if (wrong >= 0)
    return invalid(["coordinates", wrong], "Give longitude, then latitude", "coordinates");
  const km = Math.round(lengthOf(line) / 1000);
  if (km * 1000 > lengthMaxM)
    return invalid([], `The line has ${km} km; the most is ${lengthMaxM / 1000}`, "too_long");
  return { line };
}

const boxOf = (box: Box) => ({ kind: "box", box }) as const;

/** The rectangle around the line, with a margin of about the widest buffer. */
function boundsOf(line: readonly Point[]): Box {
  const [lats, lons] = [line.map(({ lat }) => lat), line.map(({ lon }) => lon)];
  return {
    south: Math.max(-90, Math.min(...lats) - marginDegrees),
    north: Math.min(90, Math.max(...lats) + marginDegrees),
    west: Math.max(-180, Math.min(...lons) - marginDegrees),
    east: Math.min(180, Math.max(...lons) + marginDegrees),
  };
}

const invalid = (path: (string | number)[], msg: string, type: string): Refusal =>
  refuse("validation-failed", [{ loc: ["body", "line", ...path], msg, type }]);

/** decisions 7.25: the line lies away from all stations, and its points seem to be swapped. */
const latitudeFirst = invalid(
  ["coordinates"],
  "Give longitude, then latitude: these points seem to have the latitude first",
  "coordinates",
);
