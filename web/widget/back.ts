import { effect } from "@preact/signals";
import { canDraw, closePanel, panel } from "#web/widget/state.ts";

const mark = "panel";
const isMarked = (): boolean => history.state === mark;
const isOpen = (): boolean => panel.value !== "none" && canDraw.value;

/**
 * The browser's way back closes an open panel. Only for a page of its own: in a frame it would put steps of ours
 * into the history of the page around.
 */
export function closeOnBack(): void {
  let leaving = false;
  // What a reload has left behind.
  if (isMarked()) history.replaceState(null, "");
  effect(() => {
    const open = isOpen();
    if (leaving) return;
    if (open && !isMarked()) history.pushState(mark, "");
    if (open || !isMarked()) return;
    leaving = true;
    history.back();
  });
  window.addEventListener("popstate", () => {
    const ours = leaving;
    leaving = false;
    if (isMarked() || !isOpen()) return;
    // A panel that was opened while the step back was under way stays.
    if (ours) history.pushState(mark, "");
    else closePanel();
  });
}
