import { computed, signal } from "@preact/signals";
import { boxAround, distanceM, type Point } from "#src/domain/geo.ts";
import {
  lacks,
  type Near,
  nearestWith,
  nearRadiiKm,
  stationAnswer,
} from "#src/domain/grade-answer.ts";
import { minuteMs } from "#src/domain/units.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { ask, serverNow, type Station } from "#web/widget/api.ts";
import { isFavourite } from "#web/widget/favourites.ts";
import { expire } from "#web/widget/filters.ts";
import { grade } from "#web/widget/grade.ts";
import { heldParts, heldStations, resume, trouble } from "#web/widget/loader.ts";
import { map } from "#web/widget/map-handle.ts";
import { restore } from "#web/widget/offline/kept.ts";
import { toldAt } from "#web/widget/offline/told-at.ts";
import { isOld } from "#web/widget/ordering.ts";
import { openPanel, panel } from "#web/widget/panels.ts";
import { keepPlace, type Origin, type Place } from "#web/widget/place.ts";
import { locate } from "#web/widget/position.ts";
import { boxesOf, nameOf } from "#web/widget/rectangles.ts";
import { config } from "#web/widget/state.ts";

export type Nearest =
  | { kind: "asking" }
  /** `denied` is null where nobody was asked yet. */
  | { kind: "no-position"; denied: boolean | null }
  | { kind: "looking"; from: Origin }
  | { kind: "unavailable"; from: Origin; offline: boolean }
  /** `untold`: the nearest of which nothing is known, where none has the fuel; one has to drive somewhere. */
  | ({ kind: "found"; from: Origin; untold: Near<Station>[] } & Looked);

interface Looked {
  radiusKm: number;
  /** Empty when there are none within `radiusKm`. */
  stations: Near<Station>[];
  /** When the stations were told, ms, where the service could not be asked now: from what the device holds. */
  asOf: number | null;
}

const shownOnMap = 3;
const untoldMax = 10;
/** The driver has moved so far since the last time, metres. */
const movedM = 300;
/** An answer is looked for again after so long. */
const goodMs = 5 * minuteMs;
let goodUntil = 0;

export const nearest = signal<Nearest>({ kind: "asking" });
/** Where the search has its middle; null before one is known. */
export const origin = computed<Origin | null>(() =>
  "from" in nearest.value ? nearest.value.from : null,
);
let turn = 0;
let onMap: Nearest | null = null;

/** Begins with the nearest stations around the place, or with the question for one (decisions 15.43). */
export async function beginNearest(place: Place | null, isAddressed: boolean): Promise<void> {
  openPanel("nearest", { resting: true });
  nearest.value = { kind: "no-position", denied: null };
  const mine = turn;
  const shown = place === null ? null : lookAround(place).then(() => (onMap = nearest.peek()));
  if (!(await mayAsk()) || isAddressed) return;
  await shown;
  const found = await locate();
  if (typeof found === "string" || turn > mine + (place === null ? 0 : 1)) return;
  if (place === null || place.city !== null || distanceM(place, found) > movedM)
    await lookAround({ lat: found.lat, lon: found.lon, city: null });
}

/** Whether the browser would say the driver's place at once. Nobody is asked because of this. */
async function mayAsk(): Promise<boolean> {
  const query = navigator.permissions?.query({ name: "geolocation" });
  return (await query?.then(({ state }) => state).catch(() => undefined)) === "granted";
}

/** Opens the panel of the nearest stations with the viewer's grade, from the position or from `from`. */
export async function openNearest(from: Origin | null = null): Promise<void> {
  if (panel.peek() !== "nearest") openPanel("nearest");
  if (from !== null) return lookAround(from);
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

/** Asks for another place. */
export function changePlace(): void {
  turn += 1;
  nearest.value = { kind: "no-position", denied: null };
}

/** Looks again from the same place, for another grade. */
export async function lookAgain(): Promise<void> {
  const before = nearest.peek();
  if ("from" in before) await lookAround(before.from);
}

async function lookAround(from: Origin): Promise<void> {
  const mine = (turn += 1);
  keepPlace(from);
  nearest.value = { kind: "looking", from };
  // The answer comes before the country, which the map leaves for it: a slow network brings both in half a minute.
  const answer = await answerAround(from);
  if (mine !== turn) return;
  resume(answer.kind === "found" && map.peek() !== null);
  goodUntil = isPoor(answer) ? 0 : Date.now() + goodMs;
  nearest.value = answer;
}

/** The service could not be asked. */
const isPoor = (answer: Nearest): boolean => answer.kind !== "found" || answer.asOf !== null;

/**
 * Looks again where the answer in sight is some minutes old, or was given without the service, from where the driver is
 * by now: a list of an hour ago sends people to empty pumps. The map moves only with the driver, and an answer stays
 * until there is a newer one.
 */
export async function renewNearest(): Promise<void> {
  const before = nearest.peek();
  if (before.kind !== "found" && before.kind !== "unavailable") return;
  if (document.hidden || Date.now() < goodUntil || trouble.peek() !== null) return;
  goodUntil = Date.now() + goodMs;
  const mine = turn;
  const from = await originNow(before.from);
  const answer = await answerAround(from);
  if (mine !== turn) return;
  if (isPoor(answer)) {
    goodUntil = 0;
    return;
  }
  if (from === before.from) onMap = answer;
  else keepPlace(from);
  nearest.value = answer;
}

async function originNow(from: Origin): Promise<Origin> {
  if (from.city !== null || !(await mayAsk())) return from;
  const found = await locate();
  return typeof found === "string" || distanceM(from, found) <= movedM
    ? from
    : { lat: found.lat, lon: found.lon, city: null };
}

async function answerAround(from: Origin): Promise<Nearest> {
  const wanted = grade.peek();
  const told = await widen(from, "yes,low,queue", (stations, radiusM) =>
    nearestWith(stations, { from, radiusM, grade: wanted }),
  );
  if ("offline" in told) return { kind: "unavailable", from, offline: told.offline };
  const stations = [...told.stations].sort(
    (a, b) => Number(isFavourite(b.station.id)) - Number(isFavourite(a.station.id)),
  );
  const unknown = stations.length > 0 ? null : await widen(from, "", untoldOf(from, wanted));
  const untold =
    unknown === null || "offline" in unknown ? [] : unknown.stations.slice(0, untoldMax);
  return { kind: "found", from, ...told, stations, untold };
}

const untoldOf =
  (from: Point, wanted: Grade | null): Fitting =>
  (stations, radiusM) =>
    byDistance(stations, from, radiusM).filter(
      ({ station }) =>
        stationAnswer(station, wanted) === "nodata" && (wanted === null || !lacks(station, wanted)),
    );

/** Shows the first of those that were found and where they were looked for; once, for the viewer may move on. */
export function showNearest(): void {
  const { value } = nearest;
  if (map.value === null || value.kind !== "found" || value === onMap) return;
  onMap = value;
  const first = [...value.stations, ...value.untold]
    .slice(0, shownOnMap)
    .map(({ station }) => station);
  map.value.fit([value.from, ...first]);
}

/** The nearest station within the widest radius, whatever its status; "unknown" when the service does not answer. */
export async function nearestStation(from: Point): Promise<Station | "none" | "unknown"> {
  const told = await widen(from, "", (stations, radiusM) => byDistance(stations, from, radiusM));
  return "offline" in told ? "unknown" : (told.stations[0]?.station ?? "none");
}

/** The nearest other station with the viewer's grade; null when none is known. */
export async function nearestOther(from: Station): Promise<Near<Station> | null> {
  const told = await widen(from, "yes,low,queue", (stations, radiusM) =>
    nearestWith(stations, { from, radiusM, grade: grade.peek() }).filter(
      ({ station }) => station.id !== from.id,
    ),
  );
  if ("offline" in told) return null;
  const recent = told.stations.find((one) => !isOld(one, serverNow()));
  return recent ?? told.stations[0] ?? null;
}

const byDistance = (stations: readonly Station[], from: Point, radiusM: number): Near<Station>[] =>
  stations
    .map((station) => ({ station, distance: distanceM(from, station) }))
    .filter(({ distance }) => distance <= radiusM)
    .sort((a, b) => a.distance - b.distance);

type Fitting = (stations: readonly Station[], radiusM: number) => Near<Station>[];

/**
 * Asks ever farther around until `fitting` finds one that was told of lately; older ones alone are no reason to stop.
 * Without the service from what the device holds; `offline` when that is nothing.
 */
async function widen(
  from: Point,
  statuses: string,
  fitting: Fitting,
): Promise<Looked | { offline: boolean }> {
  const filter = statuses === "" ? "" : `&status=${statuses}`;
  let looked: Looked = { radiusKm: 0, stations: [], asOf: null };
  for (const radiusKm of nearRadiiKm) {
    const box = nameOf(boxAround(from, radiusKm * 1000));
    const told = await ask<{ stations: Station[] }>(`/stations?bbox=${box}&sort=distance${filter}`);
    if (told.kind !== "ok") {
      if (looked.stations.length > 0) break;
      return (await fromHeld(from, fitting)) ?? { offline: told.kind === "offline" };
    }
    looked = { ...looked, radiusKm, stations: fitting(told.body.stations, radiusKm * 1000) };
    if (isEnough(looked) || (statuses === "" && looked.stations.length > 0)) break;
  }
  return looked;
}

const isEnough = ({ stations }: Looked): boolean =>
  stations.some((one) => !isOld(one, serverNow()));

async function fromHeld(from: Point, fitting: Fitting): Promise<Looked | null> {
  await restore();
  const lifetimeH = config.peek()?.stale_after_hours ?? 24;
  const stations = [...heldStations().values()].map((station) => ({
    ...station,
    fuel: expire(station.fuel, serverNow(), lifetimeH),
  }));
  const asOf = toldAt(heldParts(), boxesOf(boxAround(from, nearRadiiKm[0] * 1000)));
  if (asOf === null) return null;
  let looked: Looked = { radiusKm: 0, stations: [], asOf };
  for (const radiusKm of nearRadiiKm) {
    looked = { ...looked, radiusKm, stations: fitting(stations, radiusKm * 1000) };
    if (isEnough(looked)) break;
  }
  return looked;
}
