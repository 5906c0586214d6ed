import { effect } from "@preact/signals";
import { findStation } from "#web/widget/api.ts";
import { map } from "#web/widget/map-handle.ts";
import { openCard, openPanel, panel } from "#web/widget/panels.ts";
import { canDraw, shown } from "#web/widget/state.ts";

/**
 * The list that came with the page stands until the map shows stations, or a panel lies in its place. Whoever is
 * reading it by then keeps it as the map's own list (docs/decisions.md 15.13).
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

const isReplaced = (): boolean =>
  panel.value !== "none" || !canDraw.value || (map.value !== null && shown.value.length > 0);
