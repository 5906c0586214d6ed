import { count, list, named, orNull, part, text, time } from "#src/contract/shapes/kinds.ts";
import { type Static, type TObject, Type } from "typebox";
import { servedStatus } from "#src/contract/shapes/fuel.ts";
import { cityPlace, population, staleAfterHours } from "#src/contract/shapes/stations.ts";
import { grades, servedStatuses } from "#src/domain/vocabulary.ts";

const share = (description: string) =>
  orNull(Type.Number({ minimum: 0, maximum: 1, description: `0 to 1: ${description}` }));

const record = <Name extends string, Value extends Parameters<typeof Type.Object>[0][string]>(
  names: readonly Name[],
  value: Value,
  description: string,
) =>
  part(
    description,
    Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>,
  ) as TObject<Record<Name, Value>>;

/** decisions 7.42. */
export const stationHistory = named("StationHistory", {
  station_id: text("The station's `id`"),
  from: time("UTC; the beginning of the window, a whole minute"),
  runs: Type.Array(
    Type.Object({
      status: servedStatus,
      from: time("UTC; its first moment"),
      to: orNull(time("UTC; its end; null while the station serves it")),
    }),
    { description: "Oldest first, without gaps; neighbours differ", minItems: 1 },
  ),
  as_of: time("UTC; the end of the window"),
  stale_after_hours: staleAfterHours,
});

const day = Type.Object(
  {
    day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "A day of UTC" }),
    stations: count("Stations in service"),
    statuses: record(
      servedStatuses,
      Type.Number({ minimum: 0, description: "Stations, on average" }),
      "Stations by status, on average over the day",
    ),
    share_no: share("`no` among stations with a status; null where none had one"),
    share_out: record(
      grades,
      share("out of it among stations of which it was known; null where it was of none"),
      "By grade: `out` among stations of which it was known, over looks of every ten minutes",
    ),
  },
  { title: "InsightDay", description: "Stations by status, on average over the day" },
);

const figures = {
  stations: count("Stations in service"),
  statuses: record(servedStatuses, count("Stations"), "Stations by status, now"),
  share_no: share("`no` among stations with a status; null where none has one"),
  grades: record(
    grades,
    // Named, because generators would name one for each grade, and could write no name for ДТ.
    Type.Object(
      {
        available: count("Stations that have it"),
        out: count("Stations that are out of it"),
        unknown: count("Stations of which it is not known"),
        share_out: share("`out` among stations of which it is known; null where it is of none"),
      },
      { title: "GradeInsight", description: "Stations by what is known of a grade" },
    ),
    "Stations by grade, now",
  ),
  days: list("Oldest first, the last one as far as it has passed", day),
};

/** decisions 7.44. */
export const cityInsights = named("CityInsights", {
  country: Type.Object(figures, {
    title: "CountryInsight",
    description: "The whole country, also where no city is",
  }),
  cities: list(
    "The largest first; with `city` that one alone",
    named("CityInsight", { ...cityPlace, population, ...figures }),
  ),
  count: count("Cities in this answer"),
  total: count("Cities that match"),
  as_of: time("UTC; the moment of the figures"),
});

export const historyExample: Static<typeof stationHistory> = {
  station_id: "n1234567",
  from: "2026-01-29 18:05:00",
  runs: [
    { status: "nodata", from: "2026-01-29 18:05:00", to: "2026-01-31 07:12:40" },
    { status: "no", from: "2026-01-31 07:12:40", to: "2026-01-31 16:30:05" },
    { status: "yes", from: "2026-01-31 16:30:05", to: null },
  ],
  as_of: "2026-01-31 18:05:30",
  stale_after_hours: 24,
};

const statuses = { yes: 60, low: 10, no: 20, queue: 10, nodata: 20 };
const gradesExample = { available: 60, out: 20, unknown: 40, share_out: 0.25 };
const figuresExample = {
  stations: 120,
  statuses,
  share_no: 0.2,
  grades: {
    "92": gradesExample,
    "95": gradesExample,
    "98": gradesExample,
    "100": gradesExample,
    ДТ: gradesExample,
  },
  days: [
    {
      day: "2026-01-30",
      stations: 120,
      statuses: { yes: 55.5, low: 12, no: 25.25, queue: 7.25, nodata: 20 },
      share_no: 0.2525,
      share_out: { "92": 0.15, "95": 0.35, "98": 0.5, "100": null, ДТ: 0.2 },
    },
  ],
};
export const insightsExample: Static<typeof cityInsights> = {
  country: figuresExample,
  cities: [
    {
      name: "Новосибирск",
      region: "Новосибирская область",
      lat: 55.0287,
      lon: 82.9069,
      population: 1_633_595,
      ...figuresExample,
    },
  ],
  count: 1,
  total: 1,
  as_of: "2026-01-31 18:05:00",
};
