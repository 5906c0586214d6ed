import { effect } from "@preact/signals";
import { closeTo, depth } from "#web/widget/panels.ts";
import { canDraw } from "#web/widget/state.ts";

/**
 * The browser's way back closes the open panels one by one: each is a step of the history, whose state is its number.
 * It is only for a page of its own: in a frame our steps would get into the history of the page around.
 */
export function closeOnBack(): void {
  // The list in place of a map is the page itself.
  const base = (): number => (canDraw.value ? 0 : 1);
  const wanted = (): number => Math.max(0, depth.value - base());
  let leaving = false;
  const move = (to: number): void => {
    for (let step = here() + 1; step <= to; step += 1) history.pushState(step, "");
    if (here() === to) return;
    leaving = true;
    history.go(to - here());
  };
  // A reload keeps the state of a step that is gone.
  if (here() !== 0) history.replaceState(null, "");
  effect(() => {
    const to = wanted();
    if (!leaving) move(to);
  });
  window.addEventListener("popstate", () => {
    const ours = leaving;
    leaving = false;
    // A panel that was opened while the step back was under way stays.
    if (ours) move(wanted());
    else if (here() < wanted()) closeTo(here() + base());
  });
}

const here = (): number => (typeof history.state === "number" ? history.state : 0);
