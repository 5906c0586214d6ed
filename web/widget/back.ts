import { effect } from "@preact/signals";
import { closeTo, depth, innerStep, steps } from "#web/widget/panels.ts";
import { picking } from "#web/widget/picking.ts";

/**
 * The browser's way back closes the open panels one by one: each is a step of the history, whose state is its number.
 * It is only for a page of its own: in a frame our steps would get into the history of the page around.
 */
export function closeOnBack(): void {
  // What the page has begun with is the page itself.
  const base = (): number => depth.value - steps.value;
  const wanted = (): number => steps.value;
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
    else if (here() < wanted()) {
      const inner = picking.peek() ?? innerStep.back;
      if (inner === null) return closeTo(here() + base());
      // The place or the form in the panel is left first, and the panel stays.
      inner(null);
      move(wanted());
    }
  });
}

const here = (): number => (typeof history.state === "number" ? history.state : 0);
