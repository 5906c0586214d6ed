import { effect, signal } from "@preact/signals";
import { findStation } from "#web/widget/api.ts";
import { loading, stations, trouble } from "#web/widget/loader.ts";
import { map } from "#web/widget/map-handle.ts";
import { nearest, openNearest } from "#web/widget/nearest.ts";
import { page } from "#web/widget/page.ts";
import { openCard, openPanel, panel } from "#web/widget/panels.ts";
import { sketch } from "#web/widget/sketch.ts";
import { canDraw, cities, hasNoCities } from "#web/widget/state.ts";

/** The list that came with the page is in sight, where the panel with the answer will lie. */
export const isEarly = signal(page.isOwnMap && document.getElementById("early") !== null);

/**
 * Removes the list that came with the page, once the map or its sketch has its stations or a panel lies in its place.
 * A viewer who is reading it by then gets the map's own list instead (decisions 15.13). On a map that begins with an
 * answer it stays until the script's own answer is there (decisions 15.43).
 */
export function joinEarlyList(): void {
  const early = document.getElementById("early");
  if (early === null) return;
  early.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a");
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { id } = link.dataset;
    if (link.hash === nearHash) void openNearest();
    else if (id !== undefined)
      void findStation(id).then((station) => {
        if (station !== null && station !== "unknown") openCard(station, { fly: true });
        else location.assign(link.href);
      });
    else return;
    event.preventDefault();
  });
  // Pressed before there was a script.
  if (location.hash === nearHash) {
    history.replaceState(history.state, "", location.pathname + location.search);
    void openNearest();
  }
  effect(() => {
    if (!isReplaced() || !early.isConnected) return;
    const isRead = early.scrollTop > 0 || early.contains(document.activeElement);
    early.remove();
    isEarly.value = false;
    if (isRead && panel.peek() === "none") openPanel("list");
  });
}

const nearHash = "#near";
let hasAsked = false;

/** True when the first list has arrived, even if it is empty or the filters hide all of it. */
function isReplaced(): boolean {
  const isAsking = loading.value;
  hasAsked ||= isAsking;
  const hasStations = stations.value.size > 0 || (hasAsked && !isAsking && trouble.value === null);
  const hasMap = map.value !== null || sketch.value !== null;
  if (panel.value === "nearest" && isEarly.value) return isAnswered();
  return panel.value !== "none" || !canDraw.value || (hasMap && hasStations);
}

/** The panel would say no less than what came with the page. */
function isAnswered(): boolean {
  const now = nearest.value;
  if (now.kind === "no-position")
    return now.denied !== null || cities.value.length > 0 || hasNoCities.value;
  return now.kind !== "looking";
}
