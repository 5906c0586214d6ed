import { type Static, Type } from "typebox";
import { orNull, servedStatus, word } from "#src/contract/shapes/fuel.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";

/** docs/contract.md 2.9, decisions 6. */
export const widgetConfig = Type.Object(
  {
    confirm_min: Type.Integer({ minimum: 0, description: "0: the general rule of confirmation" }),
    reports_enabled: Type.Boolean({ description: "Whether marks are taken with this key" }),
    grades: Type.Array(word(grades)),
    queues: Type.Array(word(queues)),
    statuses: Type.Array(servedStatus),
    center: Type.Object({
      lat: Type.Number({ minimum: -90, maximum: 90 }),
      lon: Type.Number({ minimum: -180, maximum: 180 }),
      zoom: Type.Number({ minimum: 0 }),
    }),
    stale_after_hours: Type.Integer({ minimum: 1 }),
    cooldown_s: Type.Number({
      minimum: 0,
      description: "Between marks of one viewer at one station",
    }),
    express_cooldown_s: Type.Number({
      minimum: 0,
      description: "The same for a mark with `express`",
    }),
    near_m: Type.Number({
      minimum: 0,
      description: "Up to this distance a mark is made at the station",
    }),
    basemap: Type.Object({
      kind: word(["bundled", "pmtiles", "style", "raster"]),
      url: Type.String({ description: "A path on this server, or elsewhere" }),
      dark: Type.Optional(
        Type.String({ description: "Of a style: another for the dark theme, on the same host" }),
      ),
      attribution: Type.String({ description: "The credit that the source demands" }),
    }),
    incident: orNull(
      Type.Object(
        {
          en: Type.String({ description: "In English" }),
          ru: orNull(Type.String({ description: "In Russian, if it was written" })),
        },
        { description: "The title of an open incident that touches what drivers see" },
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
