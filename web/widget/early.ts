import { effect } from "@preact/signals";
import { findStation } from "#web/widget/api.ts";
import { loading, stations, trouble } from "#web/widget/loader.ts";
import { map } from "#web/widget/map-handle.ts";
import { openCard, openPanel, panel } from "#web/widget/panels.ts";
import { sketch } from "#web/widget/sketch.ts";
import { canDraw } from "#web/widget/state.ts";

/**
 * Removes the list that came with the page, once the map or its sketch has its stations or a panel lies in its place.
 * A viewer who is reading it by then gets the map's own list instead (decisions 15.13).
 */
export function joinEarlyList(): void {
  const early = document.getElementById("early");
  if (early === null) return;
  early.addEventListener("click", (event) => {
    const row = (event.target as Element).closest<HTMLAnchorElement>("a[data-id]");
    if (row === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void findStation(row.dataset["id"] ?? "").then((station) => {
      if (station !== null) openCard(station, { fly: true });
    });
  });
  effect(() => {
    if (!isReplaced() || !early.isConnected) return;
    const isRead = early.scrollTop > 0 || early.contains(document.activeElement);
    early.remove();
    if (isRead && panel.peek() === "none") openPanel("list");
  });
}

let hasAsked = false;

/** True when the first list has arrived, even if it is empty or the filters hide all of it. */
function isReplaced(): boolean {
  const isAsking = loading.value;
  hasAsked ||= isAsking;
  const hasStations = stations.value.size > 0 || (hasAsked && !isAsking && trouble.value === null);
  const hasMap = map.value !== null || sketch.value !== null;
  return panel.value !== "none" || !canDraw.value || (hasMap && hasStations);
}
