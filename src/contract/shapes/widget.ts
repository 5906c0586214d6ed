import { type Static, Type } from "typebox";
import { orNull, servedStatus, word } from "#src/contract/shapes/fuel.ts";
import { position, staleAfterHours } from "#src/contract/shapes/stations.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";

/** docs/contract.md 2.9, decisions 6. */
export const widgetConfig = Type.Object(
  {
    confirm_min: Type.Integer({ minimum: 0, description: "0: the general rule of confirmation" }),
    reports_enabled: Type.Boolean({ description: "Whether marks are taken with this key" }),
    grades: Type.Array(word(grades), { description: "Grades that a mark may name" }),
    queues: Type.Array(word(queues), { description: "Queues that a mark may say, cars" }),
    statuses: Type.Array(servedStatus, { description: "Statuses that a mark may say" }),
    center: Type.Object(
      { ...position, zoom: Type.Number({ minimum: 0, description: "Zoom of the map" }) },
      { description: "Where the map opens" },
    ),
    stale_after_hours: staleAfterHours,
    cooldown_s: Type.Number({
      minimum: 0,
      description: "Seconds between marks of one viewer at one station",
    }),
    express_cooldown_s: Type.Number({
      minimum: 0,
      description: "The same for a mark with `express`",
    }),
    near_m: Type.Number({
      minimum: 0,
      description: "Metres up to which a mark is made at the station",
    }),
    basemap: Type.Object(
      {
        kind: word(["bundled", "pmtiles", "style", "raster"], "What `url` leads to"),
        url: Type.String({ description: "A path on this server, or elsewhere" }),
        dark: Type.Optional(
          Type.String({ description: "Of a style: another for the dark theme, on the same host" }),
        ),
        attribution: Type.String({ description: "The credit that the source demands" }),
      },
      { description: "The map below the stations" },
    ),
    incident: orNull(
      Type.Object(
        {
          en: Type.String({ description: "In English" }),
          ru: orNull(Type.String({ description: "In Russian; null if it was not written" })),
        },
        {
          description:
            "The title of an open incident that touches what drivers see; null without one",
        },
      ),
    ),
    credits: Type.Array(Type.String(), {
      description: "Who must be named for the stations, besides the base map",
    }),
  },
  { title: "WidgetConfig" },
);

export const widgetConfigExample: Static<typeof widgetConfig> = {
  confirm_min: 0,
  reports_enabled: true,
  grades: [...grades],
  queues: [...queues],
  statuses: [...statuses],
  center: { lat: 55.7558, lon: 37.6173, zoom: 10 },
  stale_after_hours: 24,
  cooldown_s: 1200,
  express_cooldown_s: 120,
  near_m: 500,
  basemap: {
    kind: "bundled",
    url: "/basemap/bundled.pmtiles",
    attribution: "Natural Earth",
  },
  incident: null,
  credits: ["© OpenStreetMap contributors"],
};
