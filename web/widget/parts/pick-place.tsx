import { useEffect, useRef } from "preact/hooks";
import "#web/widget/parts/suggest.css";
import { picking } from "#web/widget/picking.ts";
import { view } from "#web/widget/state.ts";
import { suggestWords as words } from "#web/widget/words-suggest.ts";

/** A pin on the middle of the map, which the viewer moves under it, and the two ways on. */
export const PickPlace = () => {
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    bar.current?.focus();
    const stop = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.stopImmediatePropagation();
      picking.peek()?.(null);
    };
    addEventListener("keydown", stop, { capture: true });
    return () => removeEventListener("keydown", stop, { capture: true });
  }, []);
  const choose = (): void => {
    const at = view.peek();
    picking.peek()?.(at === null ? null : { lat: at.lat, lon: at.lon });
  };
  return (
    <>
      <svg class="pick-pin" width="40" height="52" viewBox="-14 -36 28 37" aria-hidden="true">
        <path d="M0 0C-4 -9 -12 -14 -12 -22a12 12 0 0 1 24 0C12 -14 4 -9 0 0z" />
        <circle cy="-22" r="4.5" />
      </svg>
      <div class="pick-bar" role="dialog" aria-labelledby="pick-words" tabIndex={-1} ref={bar}>
        <p id="pick-words">{words.moveMap}</p>
        <button type="button" class="button" onClick={() => picking.peek()?.(null)}>
          {words.cancel}
        </button>
        <button type="button" class="button primary" onClick={choose}>
          {words.here}
        </button>
      </div>
    </>
  );
};
