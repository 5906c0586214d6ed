import { count, flag, list, named, orNull, part, text, word } from "#src/contract/shapes/kinds.ts";
import { type Static, Type } from "typebox";
import { servedStatus } from "#src/contract/shapes/fuel.ts";
import { position, staleAfterHours } from "#src/contract/shapes/stations.ts";
import { grades, queues, statuses } from "#src/domain/vocabulary.ts";

/** docs/contract.md 2.9, decisions 6. */
export const widgetConfig = named("WidgetConfig", {
  confirm_min: count("0: the general rule of confirmation"),
  reports_enabled: flag("Whether marks are taken with this key"),
  grades: list("Grades that a mark may name", word(grades)),
  queues: list("Queues that a mark may say, cars", word(queues)),
  statuses: list("Statuses that a mark may say", servedStatus),
  center: part("Where the map opens", {
    ...position,
    zoom: Type.Number({ minimum: 0, description: "Zoom of the map" }),
  }),
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
  basemap: part("The map below the stations", {
    kind: word(["bundled", "pmtiles", "style", "raster"], "What `url` leads to"),
    url: text("A path on this server, or elsewhere"),
    dark: Type.Optional(text("Of a style: another for the dark theme, on the same host")),
    attribution: text("The credit that the source demands"),
  }),
  incident: orNull(
    part("The title of an open incident that touches what drivers see; null without one", {
      en: text("In English"),
      ru: orNull(text("In Russian; null if it was not written")),
    }),
  ),
  credits: list("Who must be named for the stations, besides the base map", Type.String()),
});

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
