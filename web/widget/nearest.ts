import { signal } from "@preact/signals";
import { boxAround, distanceM, type Point } from "#src/domain/geo.ts";
import { type Near, nearestWith, nearRadiiKm } from "#src/domain/grade-answer.ts";
import { ask, type Station } from "#web/widget/api.ts";
import { isFavourite } from "#web/widget/favourites.ts";
import { grade } from "#web/widget/grade.ts";
import { map } from "#web/widget/map-handle.ts";
import { openPanel } from "#web/widget/panels.ts";
import { locate } from "#web/widget/position.ts";
import { nameOf } from "#web/widget/rectangles.ts";

/** The middle of the search for the nearest stations: the driver's position, or a city. */
export interface Origin extends Point {
  /** Null: the driver's own place. */
  city: string | null;
}

export type Nearest =
  | { kind: "asking" }
  | { kind: "no-position"; denied: boolean }
  | { kind: "looking"; from: Origin }
  | { kind: "unavailable"; from: Origin }
  /** `stations` is empty when there are none within `radiusKm`. */
  | { kind: "found"; from: Origin; radiusKm: number; stations: Near<Station>[] };

const listedMax = 30;
const shownOnMap = 3;

export const nearest = signal<Nearest>({ kind: "asking" });
let turn = 0;
let onMap: Nearest | null = null;

/** Opens the panel of the nearest stations with the viewer's grade, from the position or from `city`. */
export async function openNearest(city: Origin | null = null): Promise<void> {
  openPanel("nearest");
  if (city !== null) return lookAround(city);
  const mine = (turn += 1);
  nearest.value = { kind: "asking" };
  const found = await locate();
  if (mine !== turn) return;
  if (typeof found === "string") {
    nearest.value = { kind: "no-position", denied: found === "denied" };
    return;
  }
  await lookAround({ lat: found.lat, lon: found.lon, city: null });
}

/** Looks again from the same place, for another grade. */
export async function lookAgain(): Promise<void> {
  const before = nearest.peek();
  if ("from" in before) await lookAround(before.from);
}

async function lookAround(from: Origin): Promise<void> {
  const mine = (turn += 1);
  nearest.value = { kind: "looking", from };
  const wanted = grade.peek();
  const told = await widen(from, "yes,low,queue", (stations, radiusM) =>
    nearestWith(stations, { from, radiusM, grade: wanted }),
  );
  if (mine !== turn) return;
  if (told === null) {
    nearest.value = { kind: "unavailable", from };
    return;
  }
  const stations = [...told.stations.slice(0, listedMax)].sort(
    (a, b) => Number(isFavourite(b.station.id)) - Number(isFavourite(a.station.id)),
  );
  nearest.value = { kind: "found", from, radiusKm: told.radiusKm, stations };
}

/** Shows the first of those that were found and where they were looked for; once, for the viewer may move on. */
export function showNearest(): void {
  const { value } = nearest;
  if (value.kind !== "found" || value === onMap) return;
  onMap = value;
  const first = value.stations.slice(0, shownOnMap).map(({ station }) => station);
  map.value?.fit([value.from, ...first]);
}

/** The nearest station within the widest radius, whatever its status; "unknown" when the service does not answer. */
export async function nearestStation(from: Point): Promise<Station | "none" | "unknown"> {
  const told = await widen(from, "", (stations, radiusM) =>
    stations
      .map((station) => ({ station, distance: distanceM(from, station) }))
      .filter(({ distance }) => distance <= radiusM)
      .sort((a, b) => a.distance - b.distance),
  );
  return told === null ? "unknown" : (told.stations[0]?.station ?? "none");
}

/** Asks ever farther around until `fitting` finds some; null when the service does not answer. */
async function widen(
  from: Point,
  statuses: string,
  fitting: (stations: Station[], radiusM: number) => Near<Station>[],
): Promise<{ radiusKm: number; stations: Near<Station>[] } | null> {
  const filter = statuses === "" ? "" : `&status=${statuses}`;
  for (const radiusKm of nearRadiiKm) {
    const box = nameOf(boxAround(from, radiusKm * 1000));
    const told = await ask<{ stations: Station[] }>(`/stations?bbox=${box}&sort=distance${filter}`);
    if (told.kind !== "ok") return null;
    const stations = fitting(told.body.stations, radiusKm * 1000);
    if (stations.length > 0) return { radiusKm, stations };
  }
  return { radiusKm: nearRadiiKm.at(-1)!, stations: [] };
}
