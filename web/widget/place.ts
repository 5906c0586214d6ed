import type { Point } from "#src/domain/geo.ts";
import { dayMs } from "#src/domain/units.ts";
import { recall, remember } from "#web/kit/storage.ts";
import type { Target } from "#web/widget/map-handle.ts";
import { page } from "#web/widget/page.ts";

/** The middle of the search for the nearest stations. */
export interface Origin extends Point {
  /** Null: the driver's own place. Empty: the middle of the map. */
  city: string | null;
  /** The zoom at which the map shows it, where it has its own. */
  zoom?: number;
}

export type Place = Origin & Target;

const stored = "place";
const yearS = (365 * dayMs) / 1000;
/** The zoom at which the surroundings of a driver are shown. */
export const placeZoom = 12;

/**
 * The place that the operator's own map begins at: that of its address or of the device's cookie as the server has found
 * it, else the last one of this device; null when nothing is known (decisions 15.43).
 */
export function placeAtStart(): Place | null {
  if (page.point !== null) return { ...page.point, city: "" };
  const found = placeFound();
  if (found !== null) return found;
  // An address' city that the server has not found, or could not be asked about.
  const kept = keptPlace();
  return page.city === "" || page.city === kept?.city ? kept : null;
}

/** The city that the server has found for this page; null when it has none, or was not asked. */
export function placeFound(): (Target & { city: string }) | null {
  const { lat, lon, zoom, city } = document.getElementById("early")?.dataset ?? {};
  return city ? { lat: Number(lat), lon: Number(lon), zoom: Number(zoom), city } : null;
}

function keptPlace(): Place | null {
  try {
    const kept = JSON.parse(recall(stored) ?? "null") as Partial<Place> | null;
    return typeof kept?.lat === "number" && typeof kept.lon === "number"
      ? { lat: kept.lat, lon: kept.lon, zoom: placeZoom, city: kept.city ?? null }
      : null;
  } catch {
    return null;
  }
}

/** The device remembers where the driver has looked, to about a hundred metres; null forgets it. */
export function keepPlace(place: Origin | null): void {
  if (!page.isOwnMap) return;
  const round = (degrees: number): number => Number(degrees.toFixed(3));
  remember(
    stored,
    place === null
      ? null
      : JSON.stringify({ lat: round(place.lat), lon: round(place.lon), city: place.city }),
  );
}

/** Tells the server for the next time with what the page is to begin. The own place stays on the device. */
export function tellServer(lang: string, fuel: string | null): void {
  if (!page.isOwnMap) return;
  const place = keptPlace();
  const known = new URLSearchParams({
    lang,
    ...(fuel === null ? {} : { fuel }),
    ...(place?.city ? { city: place.city } : {}),
    ...(place !== null && place.city === null ? { here: "1" } : {}),
  });
  writeStart(known.toString(), yearS);
}

/** Forgets it at the server's side too. */
export function forgetStart(): void {
  keepPlace(null);
  writeStart("", 0);
}

function writeStart(text: string, maxAgeS: number): void {
  const { pathname } = new URL(page.root);
  document.cookie = `start=${text}; path=${pathname}; max-age=${maxAgeS}; samesite=lax`;
}
