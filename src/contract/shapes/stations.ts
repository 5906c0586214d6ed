import { type Static, Type } from "typebox";
import { fuelBlock, fuelExample, time } from "#src/contract/shapes/fuel.ts";

const stationId = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  description: "Opaque; never reused",
});
export const position = {
  lat: Type.Number({ minimum: -90, maximum: 90, description: "Latitude, degrees of WGS 84" }),
  lon: Type.Number({ minimum: -180, maximum: 180, description: "Longitude, degrees of WGS 84" }),
};
const described = {
  brand: Type.String({ description: "Brand name" }),
  name: Type.String({ description: "Station name" }),
  addr: Type.String({ description: "Address" }),
  grades_sold: Type.Optional(
    Type.String({
      description:
        "Grades that the station sells at all, comma-separated, out today or not; absent while unknown",
      examples: ["92,95,ДТ"],
    }),
  ),
  opening_hours: Type.Optional(
    Type.String({
      description:
        "As OpenStreetMap writes opening hours, in the station's local time; absent while unknown",
      examples: ["Mo-Fr 06:00-22:00; Sa 08:00-20:00"],
    }),
  ),
};

/** A station as it is served, docs/contract.md 2.1. */
export const station = Type.Object(
  { id: stationId, ...position, ...described, fuel: fuelBlock },
  { title: "Station", description: "A station with its fuel status." },
);

const asOf = time("UTC; the cursor of the next /stations/delta");
export const staleAfterHours = Type.Integer({ minimum: 1, description: "Life of a status, hours" });
const envelope = {
  count: Type.Integer({ minimum: 0, description: "Number of stations in this answer" }),
  as_of: asOf,
  stale_after_hours: staleAfterHours,
  truncated: Type.Boolean({ description: "Cut at 4000 stations, the nearest to the centre kept" }),
};
const nextCursor = Type.String({ description: "`cursor` of the next page; empty on the last" });
const stations = Type.Array(station, { description: "The stations" });
const missing = Type.Optional(
  Type.Array(Type.String(), { description: "With `ids`: those that are not in service" }),
);

/** The list envelope of docs/contract.md 2.3 with the additions of decisions 6 for each path. */
export const stationList = Type.Object(
  { stations, ...envelope, missing },
  { title: "StationList" },
);
export const stationPage = Type.Object(
  { stations, ...envelope, next_cursor: nextCursor },
  { title: "StationPage" },
);
/** decisions 7.32. */
export const stationsAlong = Type.Object(
  {
    stations,
    ...envelope,
    along: Type.Array(
      Type.Object({
        id: stationId,
        at_m: Type.Integer({ minimum: 0, description: "Metres from the beginning of the line" }),
        off_m: Type.Integer({ minimum: 0, description: "Metres from the line" }),
      }),
      { description: "Where each station is, in the order of `stations`" },
    ),
  },
  { title: "StationsAlong" },
);
export const stationDelta = Type.Object(
  {
    stations,
    ...envelope,
    removed: Type.Array(stationId, { description: "Ids of stations taken out of service" }),
    merged_into: Type.Optional(
      Type.Record(Type.String(), stationId, {
        description:
          "Of the removed ones those that are a part of another station now: their ids with its id. Absent without one",
      }),
    ),
    digest: Type.Optional(
      Type.String({
        description:
          "Digest of all stations in service after these changes; a copy of the country computes the same. Absent in events of the stream",
        pattern: "^[0-9a-f]{24}$",
        examples: ["5f0c61d2a9b04e7718c3d6ff"],
      }),
    ),
  },
  { title: "StationDelta" },
);
export const oneStation = Type.Object(
  { station, as_of: asOf, stale_after_hours: staleAfterHours },
  { title: "OneStation" },
);

const feature = Type.Object(
  {
    type: Type.Literal("Feature", { description: "As GeoJSON demands it" }),
    id: stationId,
    geometry: Type.Object(
      {
        type: Type.Literal("Point", { description: "As GeoJSON demands it" }),
        coordinates: Type.Array(Type.Number(), {
          minItems: 2,
          maxItems: 2,
          description: "Longitude, latitude",
        }),
      },
      { description: "Where the station is" },
    ),
    properties: Type.Object(
      { ...described, fuel: fuelBlock },
      { description: "The station's other fields" },
    ),
  },
  { title: "StationFeature" },
);
const collection = {
  type: Type.Literal("FeatureCollection", { description: "As GeoJSON demands it" }),
  features: Type.Array(feature, { description: "The stations" }),
};

/** The same lists as GeoJSON (RFC 7946), the envelope beside `features`. */
export const featureList = Type.Object(
  { ...collection, ...envelope, missing },
  { title: "FeatureList" },
);
export const featurePage = Type.Object(
  { ...collection, ...envelope, next_cursor: nextCursor },
  { title: "FeaturePage" },
);

export const cityPlace = {
  name: Type.String({ description: "As the service writes it" }),
  region: Type.String({ description: "Region of the country; it tells cities of one name apart" }),
  ...position,
};
export const population = Type.Integer({ minimum: 0, description: "Inhabitants" });

export const city = Type.Object(
  {
    ...cityPlace,
    zoom: Type.Integer({ minimum: 0, description: "Map zoom that shows it well" }),
    population,
  },
  { title: "City" },
);

/** docs/contract.md 2.4, decisions 6. */
export const cityList = Type.Object(
  {
    cities: Type.Array(city, { description: "The largest first; with `q` the best match first" }),
    count: Type.Integer({ minimum: 0, description: "Cities in this answer" }),
    total: Type.Integer({ minimum: 0, description: "Cities that match" }),
  },
  { title: "CityList" },
);

export const stationExample: Static<typeof station> = {
  id: "n1234567",
  lat: 55.0302,
  lon: 82.9204,
  brand: "Лукойл",
  name: "АЗС № 5",
  addr: "Красный проспект, 1",
  grades_sold: "92,95,ДТ",
  opening_hours: "24/7",
  fuel: fuelExample,
};
const envelopeExample = {
  count: 1,
  as_of: "2026-01-31 18:05:00",
  stale_after_hours: 24,
  truncated: false,
};
export const listExample: Static<typeof stationList> = {
  stations: [stationExample],
  ...envelopeExample,
};
const { id, lat: atLat, lon: atLon, ...properties } = stationExample;
export const featureListExample: Static<typeof featureList> = {
  type: "FeatureCollection",
  features: [
    { type: "Feature", id, geometry: { type: "Point", coordinates: [atLon, atLat] }, properties },
  ],
  ...envelopeExample,
};
export const cityListExample: Static<typeof cityList> = {
  cities: [
    {
      name: "Новосибирск",
      region: "Новосибирская область",
      lat: 55.0287,
      lon: 82.9069,
      zoom: 10,
      population: 1_633_595,
    },
  ],
  count: 1,
  total: 1,
};
