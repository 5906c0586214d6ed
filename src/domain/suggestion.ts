import type { Point } from "#src/domain/geo.ts";

/** What a driver can say of a station itself (decisions 15.47): `moved` is one that stands elsewhere than it is shown. */
export const suggestionKinds = ["gone", "closed", "moved", "missing"] as const;
export type SuggestionKind = (typeof suggestionKinds)[number];

/** Longest text, characters. */
export const suggestionTextMax = 300;

interface Said {
  kind: SuggestionKind;
  station_id?: string | undefined;
  lat?: number | undefined;
  lon?: number | undefined;
}

/** What a suggestion is about: equal for all that say the same of a station, or of about the same place. */
export interface Suggested {
  subject: string;
  stationId: string;
  at: Point | null;
}

/** Reads what belongs to the kind and leaves out the rest; else the field that is missing, or of no use. */
export function suggestedOf({ kind, station_id: id, lat, lon }: Said): Suggested | keyof Said {
  const needsPlace = kind === "moved" || kind === "missing";
  if (needsPlace && lat === undefined) return "lat";
  if (needsPlace && (lon === undefined || (lat === 0 && lon === 0))) return "lon";
  const at = needsPlace ? { lat: lat!, lon: lon! } : null;
  if (kind !== "missing")
    return id === undefined ? "station_id" : { subject: id, stationId: id, at };
  // To about 100 m; a place that rounds to minus nothing is no other.
  const rounded = [lat!, lon!].map((degrees) =>
    (Math.round(degrees * 1000) / 1000 || 0).toFixed(3),
  );
  return { subject: rounded.join(","), stationId: "", at };
}
