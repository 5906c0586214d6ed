import { foldText } from "#src/contract/fold-text.ts";
import { effect } from "@preact/signals";
import { minuteMs } from "#src/domain/units.ts";
import { ask, type City, findStation } from "#web/widget/api.ts";
import { heedPage } from "#web/widget/asked.ts";
import { heldStation, keepFresh, look, pause, resume, trouble } from "#web/widget/loader.ts";
import { map, minZoom, type Target } from "#web/widget/map-handle.ts";
import { say } from "#web/widget/message.ts";
import { beginNearest, nearest, openNearest, origin } from "#web/widget/nearest.ts";
import { page } from "#web/widget/page.ts";
import { loadParts } from "#web/widget/parts/later.tsx";
import { boxesAround } from "#web/widget/rectangles.ts";
import { restore, whenSilent } from "#web/widget/offline/kept.ts";
import { openCard, openPanel, panel, putListBelow, selected } from "#web/widget/panels.ts";
import { placeAtStart, placeFound, placeZoom } from "#web/widget/place.ts";
import {
  besidePanel,
  endSketch,
  moveSketch,
  sketch,
  sketchUntilDrawn,
} from "#web/widget/sketch.ts";
import {
  cities,
  config,
  hasNoCities,
  noMap,
  now,
  view,
  type WidgetConfig,
} from "#web/widget/state.ts";
import { tell } from "#web/widget/telling.ts";
import { words } from "#web/widget/words.ts";

const retryMs = 5000;
const configMs = 10 * minuteMs;
const stationZoom = 15;
/** A view of the country, for those of whom nobody knows where they are. */
const countryZoom = 4;
/** The map's own code waits for the first answer, but not longer. */
const answerMs = 2500;
const citiesPerPage = 200;
const citiesMax = 1200;
// Without a map the list shows about a city.
const listReach = { lat: 0.25, lon: 0.45 };

/** Asks how to begin, and begins; tries again for as long as the service cannot be asked. */
export async function start(): Promise<void> {
  const answers = page.isOwnMap && page.station === "";
  const place = answers ? placeAtStart() : null;
  if (answers) {
    if (place === null) pause();
    const isAddressed = page.point !== null || page.city !== "";
    void beginNearest(place, isAddressed);
  }
  const drawing = hasWebgl()
    ? whenAnswered(answers && place !== null).then(() => import("#web/widget/map/map.ts"))
    : null;
  // It may fail long before anybody waits for it.
  drawing?.catch(() => {});
  const container = document.getElementById("map");
  const size = container?.getBoundingClientRect() ?? { width: 0, height: 0 };
  // Who says where before there is a map does not want the country.
  origin.subscribe((from) => {
    if (from === null || from === place || map.peek() !== null) return;
    const at = { zoom: placeZoom, ...from };
    if (noMap.peek() !== null) return loadAround(at);
    const aside = besidePanel(at, size);
    if (drawing !== null && sketch.peek() === null) lookAhead(aside, size);
    goTo(aside);
    sought = at;
  });
  const restored = restore();
  const fresh = untilKnown();
  const silent = whenSilent(restored);
  // What is kept is shown meanwhile, and the answer when it comes.
  const orSilent = <T>(asked: Promise<T>): Promise<T | null> =>
    Promise.race([asked, silent.then(() => null)]);
  const asksCity = place === null ? findCity(page.city) : Promise.resolve(null);
  const asksStation = page.station === "" ? Promise.resolve(null) : findStation(page.station);
  const [{ config: known, view: before }, city, found] = await Promise.all([
    Promise.race([fresh.then((told) => ({ config: told, view: null })), silent]),
    orSilent(asksCity),
    orSilent(asksStation),
  ]);
  await restored;
  if (answers && city !== null && city !== "unknown") {
    const { lat, lon, zoom, name } = city;
    void openNearest({ lat, lon, zoom, city: name });
  }
  const station =
    found === "unknown"
      ? null
      : (found ?? (page.station === "" ? null : (heldStation(page.station) ?? null)));
  config.value = known;
  void fresh.then((told) => (config.value = told));
  const wanted: Target =
    (station === null ? null : { lat: station.lat, lon: station.lon, zoom: stationZoom }) ??
    place ??
    page.point ??
    (city === null || city === "unknown"
      ? (before ?? (answers ? { ...known.center, zoom: countryZoom } : known.center))
      : { lat: city.lat, lon: city.lon, zoom: city.zoom });
  let target = answers && panel.peek() === "nearest" ? besidePanel(wanted, size) : wanted;
  const opening = (): Target => {
    target = early ?? target;
    early = null;
    return target;
  };
  keepFresh();
  keepConfig();
  void loadCities();
  // Whoever closes the question for a place wants to see the map.
  effect(() => {
    if (panel.value !== "nearest") resume();
  });
  // The stations come while the map's own code is still under way.
  if (drawing !== null && container !== null) {
    lookAhead(opening(), size);
    sketchUntilDrawn(drawing, opening, container);
  }
  try {
    if (drawing === null || container === null) throw new Error("no WebGL");
    const { openMap } = await drawing;
    map.value = await openMap(container, known, () => sketch.peek() ?? opening());
    if (early !== null) map.value.go(early);
    if (station !== null) openCard(station);
  } catch (error) {
    console.warn(error);
    endSketch();
    noMap.value = drawing === null ? "no-webgl" : "failed";
    listAround(sought ?? wanted);
    if (station !== null) openCard(station);
  }
  void loadParts();
  // Now there is somebody who sees it.
  if (city === "unknown") say(words.notices.cityUnknown(page.city));
  heedPage(goTo);
  tell({ type: "fuelmark:ready" });
  void asksStation.then((late) => {
    if (late === "unknown") noteUnknown();
    else if (late !== null && station === null && selected.peek() === null) {
      goTo({ lat: late.lat, lon: late.lon, zoom: stationZoom });
      openCard(late);
    }
  });
  if (city === null)
    void asksCity.then((late) => {
      if (late === "unknown") return say(words.notices.cityUnknown(page.city));
      if (late === null || page.station !== "" || selected.peek() !== null) return;
      const { lat, lon, name } = late;
      if (answers && nearest.peek().kind === "no-position")
        void openNearest({ lat, lon, city: name });
      goTo(late);
    });
}

/** The address names a station that is no more: its page, or a partner's line. */
function noteUnknown(): void {
  console.warn(`Parameter "station": ${words.notices.stationUnknown(page.station)}`);
  say(words.notices.stationUnknown(page.station));
  tell({ type: "fuelmark:station-unknown", station_id: page.station });
}

/** Resolves when the list has its first answer, which comes before the map: both share a slow network. */
const whenAnswered = (isAsked: boolean): Promise<void> =>
  new Promise((done) => {
    if (!isAsked) return done();
    setTimeout(done, answerMs);
    nearest.subscribe(({ kind }) => {
      if (kind === "found" || kind === "unavailable") done();
    });
  });

async function untilKnown(): Promise<WidgetConfig> {
  for (;;) {
    const told = await ask<WidgetConfig>("/widget/config");
    if (told.kind === "ok") {
      trouble.value = null;
      return told.body;
    }
    const status = told.kind === "refused" ? told.status : 0;
    const waitMs = told.kind === "refused" ? (told.retryAfterS ?? 5) * 1000 : retryMs;
    trouble.value =
      status === 429
        ? { kind: "limited", untilMs: Date.now() + waitMs }
        : { kind: status === 0 ? "offline" : status < 500 ? "refused" : "unavailable" };
    await new Promise((done) => setTimeout(done, Math.max(retryMs, waitMs)));
  }
}

/** Asks again how the map is set up, and whether there is an incident: an installed map stays open for days. */
function keepConfig(): void {
  let askedMs = Date.now();
  now.subscribe(() => {
    if (document.hidden || Date.now() - askedMs < configMs) return;
    askedMs = Date.now();
    void ask<WidgetConfig>("/widget/config").then((told) => {
      if (told.kind === "ok") config.value = told.body;
    });
  });
}

/** The city with this name; "unknown", with a warning, when there is none, null when nothing was asked or said. */
async function findCity(
  name: string,
): Promise<Pick<City, "lat" | "lon" | "zoom" | "name"> | "unknown" | null> {
  if (name === "" || page.point !== null) return null;
  // The server knows more of a city's names than its list can be searched for.
  const found = placeFound();
  if (found !== null) return { ...found, name: found.city };
  const told = await ask<{ cities: City[] }>(`/cities?limit=50&q=${encodeURIComponent(name)}`);
  // Without the service there is no warning about the city.
  if (told.kind !== "ok") return null;
  const sought = foldText(name);
  // A city without the text in its name has another name: in Latin letters, or in short.
  const isCalled = (city: string): boolean => city === sought || !city.includes(sought);
  const exact = told.body.cities.find((city) => isCalled(foldText(city.name)));
  if (exact === undefined) console.warn(`Parameter "city": ${words.notices.cityUnknown(name)}`);
  return exact ?? "unknown";
}

/** The largest cities first, then the others. What the device has kept stays in sight until as many have come. */
async function loadCities(): Promise<void> {
  const fresh: City[] = [];
  for (let offset = 0; offset < citiesMax; offset += citiesPerPage) {
    const path = `/cities?limit=${citiesPerPage}&offset=${offset}`;
    const told = await ask<{ cities: City[]; total: number }>(path);
    if (told.kind !== "ok") return;
    fresh.push(...told.body.cities);
    const whole = Math.min(told.body.total, citiesMax);
    if (fresh.length >= Math.min(whole, cities.peek().length)) cities.value = [...fresh];
    hasNoCities.value = whole === 0;
    if (fresh.length >= whole) return;
  }
}

function lookAhead({ zoom, ...at }: Target, size: { width: number; height: number }): void {
  const shown = Math.max(minZoom, zoom);
  look(boxesAround({ ...at, zoom: shown }, size), shown);
}

/** Where the viewer wanted to go while there was neither a map nor its sketch. */
let early: Target | null = null;
/** Where the viewer wanted to go last before there was a map, in the middle and not beside a panel. */
let sought: Target | null = null;

/** Moves the map to the target, or the sketch in its place, or the list when there is no map. */
export function goTo(target: Target): void {
  sought = target;
  if (map.value !== null) map.value.go(target);
  else if (sketch.value !== null) moveSketch(target);
  else if (noMap.value !== null) listAround(target);
  else early = target;
}

function listAround(target: Target): void {
  loadAround(target);
  // The answer that the page has begun with stays in sight.
  if (panel.peek() === "nearest") putListBelow();
  else openPanel("list");
}

/** What the list shows without a map; what is open on it stays. */
function loadAround({ lat, lon, zoom }: Target): void {
  const box = {
    south: lat - listReach.lat,
    west: lon - listReach.lon,
    north: lat + listReach.lat,
    east: lon + listReach.lon,
  };
  view.value = { boxes: [box], zoom, lat, lon };
  look([box], Math.max(zoom, 10));
}

function hasWebgl(): boolean {
  try {
    return document.createElement("canvas").getContext("webgl2") !== null;
  } catch {
    return false;
  }
}
