import { count, flag, list, named, orNull, part, text, time } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { exportedFuel, fuelBlock, fuelExample } from "#src/contract/shapes/fuel.ts";

const stationId = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  description: "Opaque; never reused",
});
export const position = {
  lat: Type.Number({ minimum: -90, maximum: 90, description: "Latitude, degrees of WGS 84" }),
  lon: Type.Number({ minimum: -180, maximum: 180, description: "Longitude, degrees of WGS 84" }),
};
const described = {
  brand: text("Brand name"),
  name: text("Station name"),
  addr: text("Address"),
  grades_sold: Type.Optional(
    text(
      "Grades that the station sells at all, comma-separated, out today or not; absent while unknown",
      { examples: ["92,95,ДТ"] },
    ),
  ),
  opening_hours: Type.Optional(
    text(
      "As OpenStreetMap writes opening hours, in the station's local time; absent while unknown",
      { examples: ["Mo-Fr 06:00-22:00; Sa 08:00-20:00"] },
    ),
  ),
  closed: Type.Optional(
    part("Closed for now, as its source says; absent for no", {
      from: orNull(time("UTC; null: already, or unknown since when")),
      until: orNull(time("UTC; null while its end is unknown")),
    }),
  ),
};

/** A station as it is served, docs/contract.md 2.1. */
export const station = Type.Object(
  { id: stationId, ...position, ...described, fuel: fuelBlock },
  { title: "Station", description: "A station with its fuel status." },
);

/** A line of JSON. */
export const stationLine = named("StationLine", { ...station.properties, fuel: exportedFuel });

const asOf = time("UTC; the cursor of the next /stations/delta");
export const staleAfterHours = Type.Integer({ minimum: 1, description: "Life of a status, hours" });
const envelope = {
  count: count("Number of stations in this answer"),
  as_of: asOf,
  stale_after_hours: staleAfterHours,
  truncated: flag("Cut at 4000 stations, the nearest to the centre kept"),
};
const nextCursor = text("`cursor` of the next page; empty on the last");
const stations = list("The stations", station);
const missing = Type.Optional(list("With `ids`: those that are not in service", Type.String()));

/** The list envelope of docs/contract.md 2.3 with the additions of decisions 6 for each path. */
export const stationList = named("StationList", { stations, ...envelope, missing });
export const stationPage = named("StationPage", { stations, ...envelope, next_cursor: nextCursor });
/** decisions 7.32. */
export const stationsAlong = named("StationsAlong", {
  stations,
  ...envelope,
  along: list(
    "Where each station is, in the order of `stations`",
    Type.Object({
      id: stationId,
      at_m: count("Metres from the beginning of the line"),
      off_m: count("Metres from the line"),
    }),
  ),
});
export const stationDelta = named("StationDelta", {
  stations,
  ...envelope,
  removed: list("Ids of stations taken out of service", stationId),
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
});
export const oneStation = named("OneStation", {
  station,
  as_of: asOf,
  stale_after_hours: staleAfterHours,
});

const feature = named("StationFeature", {
  type: Type.Literal("Feature", { description: "As GeoJSON demands it" }),
  id: stationId,
  geometry: part("Where the station is", {
    type: Type.Literal("Point", { description: "As GeoJSON demands it" }),
    coordinates: Type.Array(Type.Number(), {
      minItems: 2,
      maxItems: 2,
      description: "Longitude, latitude",
    }),
  }),
  properties: part("The station's other fields", { ...described, fuel: exportedFuel }),
});
const collection = {
  type: Type.Literal("FeatureCollection", { description: "As GeoJSON demands it" }),
  features: list("The stations", feature),
};

/** The same lists as GeoJSON (RFC 7946), the envelope beside `features`. */
export const featureList = named("FeatureList", { ...collection, ...envelope, missing });
export const featurePage = named("FeaturePage", {
  ...collection,
  ...envelope,
  next_cursor: nextCursor,
});

export const cityPlace = {
  name: text("As the service writes it"),
  region: text("Region of the country; it tells cities of one name apart"),
  ...position,
};
export const population = count("Inhabitants");

export const city = named("City", {
  ...cityPlace,
  zoom: count("Map zoom that shows it well"),
  population,
});

/** docs/contract.md 2.4, decisions 6. */
export const cityList = named("CityList", {
  cities: list("The largest first; with `q` the best match first", city),
  count: count("Cities in this answer"),
  total: count("Cities that match"),
});

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
