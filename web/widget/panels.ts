import { computed, signal } from "@preact/signals";
import type { Station } from "#web/widget/api.ts";
import { expire } from "#web/widget/filters.ts";
import { stations } from "#web/widget/loader.ts";
import { map, type Target } from "#web/widget/map-handle.ts";
import { canDraw, config, now, view } from "#web/widget/state.ts";

export type Panel =
  | "card"
  | "list"
  | "filters"
  | "nearest"
  | "favourites"
  | "menu"
  | "suggest"
  | "along";

/** An open panel, with its state for when the panel on it is closed. */
export interface Opened {
  panel: Panel;
  /** The station of the card, as it was known when the card was opened. */
  station: Station | null;
  scrollPx: number;
  /** The row that was pressed, and what the map showed then. */
  left: { id: string; camera: Target | null } | null;
  /** The map is to fly to the card's station. */
  fly: boolean;
  /** The page has begun with it: it is no step that the browser's way back would undo. */
  resting: boolean;
}

/** The panels on each other, the one in sight last: a card on the list that it was opened from. */
const stack = signal<readonly Opened[]>([]);
export const depth = computed(() => stack.value.length);
/** How many of them the viewer has opened. */
export const steps = computed(() => stack.value.filter(({ resting }) => !resting).length);
export const top = computed<Opened | null>(() => stack.value.at(-1) ?? null);
export const panel = computed(() => top.value?.panel ?? "none");

/** The station of the open card as it is now. */
export const selected = computed<Station | null>(() => {
  const chosen = top.value?.station ?? null;
  if (chosen === null) return null;
  const station = stations.value.get(chosen.id) ?? chosen;
  const fuel = expire(station.fuel, now.value, config.value?.stale_after_hours ?? 24);
  return fuel === station.fuel ? station : { ...station, fuel };
});

let opener: Element | null = null;
const isList = (which: Panel): boolean => !["card", "filters", "menu", "suggest"].includes(which);
const entry = (which: Panel, more: Partial<Opened> = {}): Opened => ({
  ...{ panel: which, station: null, fly: false, resting: false },
  ...{ scrollPx: 0, left: null, ...more },
});

/** Opens a panel in place of all others; the focus comes back to where it is now when it is closed. */
export function openPanel(which: Exclude<Panel, "card">, { resting = false } = {}): void {
  noteOpener();
  // Without a map the list is the page, and everything lies on it.
  const isPage = !canDraw.peek();
  const below = isPage && which !== "list" ? [entry("list", { resting: true })] : [];
  stack.value = [...below, entry(which, { resting: resting || (isPage && which === "list") })];
}

/** Without a map the list is the page, below all that is open. */
export function putListBelow(): void {
  if (stack.peek()[0]?.panel !== "list")
    stack.value = [entry("list", { resting: true }), ...stack.peek()];
}

/** Opens a station's card, on the list it was chosen from; `fly` when it was not chosen on the map. */
export function openCard(station: Station, { fly = false } = {}): void {
  noteOpener();
  const before = top.peek();
  const stays = before !== null && isList(before.panel);
  if (stays) before.left = { id: station.id, camera: fly ? cameraNow() : null };
  const below = before === null ? [] : stack.peek().slice(0, stays ? undefined : -1);
  stack.value = [...below, entry("card", { station, fly })];
}

/** Opens the form for what is wrong with a station, on its card; null: one is missing on the map. */
export function openSuggest(station: Station | null): void {
  noteOpener();
  stack.value = [...stack.peek(), entry("suggest", { station })];
}

const cameraNow = (): Target | null => {
  const at = view.peek();
  return at === null ? null : { lat: at.lat, lon: at.lon, zoom: at.zoom };
};

function noteOpener(): void {
  if (depth.peek() === 0) opener = document.activeElement;
}

/** The step back within the panel in sight, where it has one: from a form to the card that it is in. */
export const innerStep: { back: (() => void) | null } = { back: null };

/** Closes the panel in sight, or the form in it; the panel below and the map are as they were left. */
export function stepBack(): void {
  if (innerStep.back === null) closeTo(depth.peek() - 1);
  else innerStep.back();
}

/** Closes all panels. */
export const closePanels = (): void => closeTo(0);

/** Closes the panels above the first `kept`. */
export function closeTo(kept: number): void {
  const rest = stack.peek().slice(0, Math.max(kept, canDraw.peek() ? 0 : 1));
  const camera = rest.at(-1)?.left?.camera ?? null;
  stack.value = rest;
  if (camera !== null) map.peek()?.jump(camera);
  if (rest.length > 0) return;
  const back = opener instanceof HTMLElement && opener.isConnected ? opener : null;
  opener = null;
  (back ?? document.querySelector<HTMLElement>(".maplibregl-canvas"))?.focus();
}

/** Notes a mark's change in the open panels, even where the station's surroundings are not loaded. */
export function noteFuel(id: string, fuel: Station["fuel"]): void {
  stack.value = stack
    .peek()
    .map((one) => (one.station?.id === id ? { ...one, station: { ...one.station, fuel } } : one));
}
