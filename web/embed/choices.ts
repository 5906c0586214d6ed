import { computed, signal } from "@preact/signals";
import { type Grade, parseGrade } from "#src/domain/vocabulary.ts";
import type { Embedding } from "#web/embed/embed-line.ts";
import { keptKeys, prefixOf } from "#web/embed/kept-keys.ts";
import { words } from "#web/embed/words.ts";
import type { Language } from "#src/contract/language.ts";
import type { Params } from "#web/widget/params.ts";

/** The form as it is filled in; numbers are still text. */
export interface Choices {
  key: string;
  /** The partner's own page, to be held against the key's domains; goes nowhere. */
  site: string;
  place: "start" | "city" | "point";
  city: string;
  lat: string;
  lon: string;
  zoom: string;
  theme: Params["theme"];
  fuel: Grade | "";
  noFilter: boolean;
  noSearch: boolean;
  themeLock: boolean;
  gestures: Params["gestures"] | "";
  lang: Language | "";
  accent: string;
  width: string;
  height: string;
}

export type Faults = Partial<Record<keyof Choices, string>>;

const cityMax = 120;
const heightMin = 200;
const heightMax = 4000;

const given = new URLSearchParams(location.search);
/** The beginning of the key that the dashboard leads to; empty: none. */
export const wanted = given.get("prefix") ?? "";

export const choices = signal<Choices>({
  key: takeKey(),
  site: "",
  place: "start",
  city: "",
  lat: "",
  lon: "",
  zoom: "12",
  theme: "auto",
  fuel: "",
  noFilter: false,
  noSearch: false,
  themeLock: false,
  gestures: "",
  lang: "",
  accent: "",
  width: "100%",
  height: "600",
});

export const choose = (change: Partial<Choices>): void => {
  choices.value = { ...choices.value, ...change };
};

/** The faults of the form in words, by field. */
export const faults = computed<Faults>(() => {
  const { place, city, lat, lon, zoom, accent, width, height } = choices.value;
  const found: Faults = {};
  if (place === "city" && city.trim().length > cityMax) found.city = words.faults.city;
  if (place === "point") {
    if (!within(lat, -90, 90)) found.lat = words.faults.lat;
    if (!within(lon, -180, 180)) found.lon = words.faults.lon;
    if (!within(zoom, 0, 22)) found.zoom = words.faults.zoom;
  }
  if (!/^(#?[0-9a-f]{6})?$/i.test(accent.trim())) found.accent = words.faults.accent;
  if (!/^[1-9]\d{1,3}$|^(100|[1-9]\d?)%$/.test(width.trim())) found.width = words.faults.width;
  if (!/^\d+$/.test(height.trim()) || !within(height, heightMin, heightMax))
    found.height = words.faults.height;
  return found;
});

/** The chosen embedding; null while a field has a fault. */
export const embedding = computed<Embedding | null>(() => {
  const chosen = choices.value;
  if (Object.keys(faults.value).length > 0) return null;
  const { lat, lon, zoom } = chosen;
  return {
    address: new URL("widget/", serviceAddress()).href,
    key: chosen.key.trim(),
    city: chosen.place === "city" ? chosen.city.trim() : "",
    point:
      chosen.place === "point"
        ? { lat: numberOf(lat), lon: numberOf(lon), zoom: numberOf(zoom) }
        : null,
    theme: chosen.theme,
    fuel: parseGrade(chosen.fuel) ?? null,
    showFilter: !chosen.noFilter,
    showSearch: !chosen.noSearch,
    themeLocked: chosen.themeLock,
    gestures: chosen.gestures === "" ? null : chosen.gestures,
    language: chosen.lang === "" ? null : chosen.lang,
    accent: chosen.accent.trim().replace(/^#/, "").toLowerCase() || null,
    width: chosen.width.trim(),
    heightPx: numberOf(chosen.height),
    title: words.frameTitle,
  };
});

/** The service's address for partners, as its operator has set it; with a slash at its end. */
export function serviceAddress(): string {
  const { content = "" } = document.querySelector<HTMLMetaElement>('meta[name="base"]') ?? {};
  return content === "" ? new URL("../", location.href).href : `${content.replace(/\/+$/, "")}/`;
}

const numberOf = (text: string): number => Number(text.trim().replace(",", "."));

const within = (text: string, min: number, max: number): boolean =>
  text.trim() !== "" && numberOf(text) >= min && numberOf(text) <= max;

/**
 * The key in the page's own address, which it leaves then: neither history nor bookmarks need to keep it. Else the one
 * of this browser that begins as the dashboard says, or its newest.
 */
function takeKey(): string {
  const key = given.get("key") ?? "";
  if (location.search !== "") history.replaceState(null, "", location.pathname);
  if (key !== "") return key;
  return keptKeys.value.find((one) => wanted === "" || prefixOf(one) === wanted) ?? "";
}
