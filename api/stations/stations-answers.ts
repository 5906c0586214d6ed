import { type Answers, type Form, json, type ReplyShape } from "#api/openapi/answers.ts";
import type { HeaderName } from "#api/openapi/headers.ts";
import {
  cityList,
  cityListExample,
  featureList,
  featureListExample,
  featurePage,
  listExample,
  oneStation,
  station,
  stationDelta,
  stationExample,
  stationList,
  stationPage,
} from "#src/contract/shapes/stations.ts";

const lineHeaders: readonly HeaderName[] = [
  "X-Count",
  "X-As-Of",
  "X-Stale-After-Hours",
  "X-Truncated",
];
const lines: Record<string, Form> = {
  "application/x-ndjson": { schema: station, example: stationExample },
};
const unchanged = (sometimes: readonly HeaderName[] = []): Record<number, ReplyShape> => ({
  304: {
    description: "Unchanged: `If-None-Match` names the content's ETag. Counts as a request.",
    headers: ["ETag", "X-As-Of"],
    sometimes,
  },
});

export const stationsAnswers: Answers = {
  operationId: "listStations",
  tag: "Stations",
  description:
    "Give `bbox` or `city`; where both come, `bbox` is the area and `city` is still checked. Filters are applied before the cut at 4000. With a publishable key a `bbox` is widened to a 0.01° grid and may come from a shared cache.",
  replies: {
    200: {
      description:
        "The stations; as JSON, GeoJSON or a line of JSON for each, by `Accept`. Lines have no envelope: its fields are headers.",
      headers: ["ETag"],
      sometimes: ["X-Service-Cache", ...lineHeaders],
      forms: {
        ...json(stationList, listExample),
        "application/geo+json": { schema: featureList, example: featureListExample },
        ...lines,
      },
    },
    ...unchanged(["X-Service-Cache"]),
  },
  problems: ["bad-bbox", "missing-area", "bad-grade", "city-not-found"],
  takes: ["If-None-Match"],
};

export const allStationsAnswers: Answers = {
  operationId: "dumpStations",
  tag: "Stations",
  description:
    "Follow `next_cursor` with the same filters until it is empty, or take all in one page of 30000. Every page carries the first page's `as_of`, so a delta from it misses nothing. One ETag covers the whole dump.",
  replies: {
    200: {
      description: "A page of the country, in the forms of /stations.",
      headers: ["ETag"],
      sometimes: [...lineHeaders, "X-Next-Cursor"],
      forms: {
        ...json(stationPage, { ...listExample, next_cursor: "" }),
        "application/geo+json": {
          schema: featurePage,
          example: { ...featureListExample, next_cursor: "" },
        },
        ...lines,
      },
    },
    ...unchanged(),
  },
  // The last one: for a name in bytes that are not percent-encoded, which no parser takes.
  problems: ["bad-grade", "bad-cursor", "city-not-found"],
  takes: ["If-None-Match"],
};

export const deltaAnswers: Answers = {
  operationId: "listChanges",
  tag: "Stations",
  description:
    "Take `as_of` of the answer before. A change may come twice, and never zero times. No filters: a station that leaves one must not be hidden from your copy.",
  replies: {
    200: {
      description: "Stations whose status or entry changed since then, and those taken out.",
      headers: ["ETag"],
      forms: json(stationDelta, { ...listExample, removed: ["w4711"] }),
    },
    ...unchanged(),
  },
  problems: ["bad-timestamp", "window-too-old"],
  takes: ["If-None-Match"],
};

export const oneStationAnswers: Answers = {
  operationId: "getStation",
  tag: "Stations",
  description: "Ids come from the lists.",
  replies: {
    200: {
      description: "The station",
      headers: ["ETag"],
      forms: json(oneStation, {
        station: stationExample,
        as_of: listExample.as_of,
        stale_after_hours: 24,
      }),
    },
    ...unchanged(),
  },
  problems: ["station-not-found"],
  takes: ["If-None-Match"],
};

export const citiesAnswers: Answers = {
  operationId: "listCities",
  tag: "Stations",
  description:
    "By population; with `q` names that begin with it, then names that hold it. Case and ё/е are ignored.",
  replies: {
    200: {
      description: "The cities",
      headers: ["ETag"],
      forms: json(cityList, cityListExample),
    },
    ...unchanged(),
  },
  takes: ["If-None-Match"],
};
