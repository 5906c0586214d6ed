import { computed, signal } from "@preact/signals";
import { distanceM, type Box } from "#src/domain/geo.ts";
import { hasFuel, lacks, type Near, stationAnswer } from "#src/domain/grade-answer.ts";
import type { Grade, Queue, ServedStatus } from "#src/domain/vocabulary.ts";
import { type City, serverNow, type Station } from "#web/widget/api.ts";
import {
  expire,
  filtersOn,
  brandsOf,
  noFilters,
  passes,
  passesBrand,
  type Filters,
} from "#web/widget/filters.ts";
import { keptFilters } from "#web/widget/kept-filters.ts";
import { recall } from "#web/kit/storage.ts";
import { grade } from "#web/widget/grade.ts";
import { page } from "#web/widget/page.ts";
import { stations } from "#web/widget/loader.ts";
import { position } from "#web/widget/position.ts";
import { holds } from "#web/widget/rectangles.ts";

/** Answer of `GET /widget/config` (decisions 6). */
export interface WidgetConfig {
  confirm_min: number;
  reports_enabled: boolean;
  grades: Grade[];
  queues: Queue[];
  statuses: ServedStatus[];
  center: { lat: number; lon: number; zoom: number };
  stale_after_hours: number;
  cooldown_s: number;
  express_cooldown_s: number;
  /** The title of an open incident; null without one. Not in what an older version has kept. */
  incident?: { en: string; ru: string | null } | null;
  near_m: number;
  basemap: BasemapConfig;
  /** Absent in what a device has kept of an older version. */
  credits?: string[];
}

export interface BasemapConfig {
  kind: "bundled" | "pmtiles" | "style" | "raster";
  url: string;
  /** Of a style: its twin for the dark theme. */
  dark?: string;
  attribution: string;
}

export interface View {
  /** Two where it crosses 180°. */
  boxes: readonly Box[];
  zoom: number;
  lat: number;
  lon: number;
}

/** The reason why there is no map; the stations are listed instead. */
export const noMap = signal<"no-webgl" | "failed" | null>(null);
export const canDraw = computed(() => noMap.value === null);
/** False before the first view is known. */
export const canSee = computed(() => view.value !== null && config.value !== null);
export const config = signal<WidgetConfig | null>(null);
/** The credit of the base map: of the one that was opened, once there is one. */
export const baseCredit = signal<string | null>(null);
export const cities = signal<readonly City[]>([]);
/** The service knows no city: of such a country nobody can choose one. */
export const hasNoCities = signal(false);
export const view = signal<View | null>(null);
/** The grade whose filter a partner's address has switched on (docs/contract.md 4.11), or the one chosen in its place. */
let preset = page.isOwnMap ? null : page.fuel;
export const filters = signal<Filters>(
  page.isOwnMap
    ? keptFilters(location.search, recall("filters"))
    : preset === null
      ? noFilters
      : { ...noFilters, grades: [preset] },
);
grade.subscribe((chosen) => {
  const { grades } = filters.peek();
  if (preset !== null && chosen !== preset && grades.length === 1 && grades[0] === preset)
    filters.value = { ...filters.peek(), grades: chosen === null ? [] : [chosen] };
  preset = preset === null ? null : chosen;
});
/** The current time, ms: ages are shown in minutes, and statuses expire. */
export const now = signal(serverNow());
const tick = (): void => void (now.value = serverNow());
setInterval(tick, 20_000);
// A phone stops the timers of a page that nobody sees.
document.addEventListener("visibilitychange", tick);

/** The stations in memory as they are now. */
const current = computed<readonly Station[]>(() => {
  const lifetimeH = config.value?.stale_after_hours ?? 24;
  return [...stations.value.values()].map((station) => {
    const fuel = expire(station.fuel, now.value, lifetimeH);
    return fuel === station.fuel ? station : { ...station, fuel };
  });
});

/** Stations that the filters let pass. */
export const shown = computed<readonly Station[]>(() =>
  filtersOn(filters.value) === 0
    ? current.value
    : current.value.filter(
        ({ fuel, brand }) =>
          passes(fuel, filters.value, now.value) && passesBrand(brand, filters.value),
      ),
);

/** The brands in view that the other filters let pass, with the number of their stations. */
export const brandsInView = computed<[brand: string, count: number][]>(() => {
  const at = view.value;
  if (at === null) return [];
  return brandsOf(
    current.value.filter(
      ({ lat, lon, fuel }) =>
        passes(fuel, filters.value, now.value) && at.boxes.some((box) => holds(box, lat, lon)),
    ),
  );
});

/**
 * The stations of `shown` in the view, with their distance from the viewer, or from the middle when that is unknown:
 * the nearest first, with a grade those that have it before all others.
 */
export const inView = computed<readonly Near<Station>[]>(() => {
  const at = view.value;
  if (at === null) return [];
  const from = position.value ?? at;
  const wanted = grade.value;
  const rank = ({ station }: Near<Station>): number => {
    const answer = wanted === null ? "yes" : stationAnswer(station, wanted);
    if (wanted !== null && lacks(station, wanted)) return 3;
    return hasFuel(answer) ? 0 : answer === "nodata" ? 1 : 2;
  };
  return shown.value
    .filter(({ lat, lon }) => at.boxes.some((box) => holds(box, lat, lon)))
    .map((station) => ({ station, distance: distanceM(from, station) }))
    .sort((a, b) => rank(a) - rank(b) || a.distance - b.distance);
});

/**
 * The number of those that have the grade, and of those that may: that do not lack it for good. Null without a grade,
 * or such a station.
 */
export const haveGrade = computed<{ have: number; of: number } | null>(() => {
  const wanted = grade.value;
  if (wanted === null) return null;
  const selling = inView.value.filter(({ station }) => !lacks(station, wanted));
  const have = selling.filter(({ station }) => hasFuel(stationAnswer(station, wanted))).length;
  return selling.length === 0 ? null : { have, of: selling.length };
});

/** Whether there is any station in view, were there no filters. */
export const anyInView = computed<boolean>(() => {
  const at = view.value;
  if (at === null) return false;
  return current.value.some(({ lat, lon }) => at.boxes.some((box) => holds(box, lat, lon)));
});
