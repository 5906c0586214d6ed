import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { endSubscription } from "#web/widget/alerts.ts";
import { forgetAsked } from "#web/widget/at-station.ts";
import { forgetFavourites } from "#web/widget/favourites.ts";
import { remember } from "#web/kit/storage.ts";
import { forgetStart } from "#web/widget/place.ts";
import { forgetDevice } from "#web/widget/device.ts";
import { say } from "#web/widget/message.ts";
import { forgetKept } from "#web/widget/offline/kept.ts";
import { dropAll } from "#web/widget/offline/outbox.ts";
import { undo } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

/** The viewer's data at the service, and the button that erases them. */
export const AboutYou = () => {
  const asking = useSignal(false);
  const busy = useSignal(false);
  const first = useRef<HTMLButtonElement>(null);
  const pressed = useRef(false);
  // The pressed button is gone: the focus goes to the element in its place.
  useLayoutEffect(() => {
    if (pressed.current) first.current?.focus();
  }, [asking.value]);
  const turn = (to: boolean): void => {
    pressed.current = true;
    asking.value = to;
  };
  const forget = async (): Promise<void> => {
    busy.value = true;
    const isForgotten = await forgetDevice();
    if (isForgotten) {
      undo();
      await dropAll();
      forgetFavourites();
      forgetStart();
      forgetAsked();
      for (const name of ["filters", "fuel", "theme"]) remember(name, null);
      // Before the worker goes, which has the subscription.
      await endSubscription();
      await forgetKept();
    }
    say(isForgotten ? words.forget.done : words.forget.failed);
    busy.value = false;
    turn(false);
  };
  return (
    <section class="about-you">
      {asking.value ? (
        <>
          <p class="hint">{words.forget.question}</p>
          <div class="about-buttons">
            <button type="button" class="button" ref={first} onClick={() => turn(false)}>
              {words.cancel}
            </button>
            <button
              type="button"
              class="button primary"
              disabled={busy.value}
              onClick={() => void forget()}
            >
              {words.forget.yes}
            </button>
          </div>
        </>
      ) : (
        <button type="button" class="button" ref={first} onClick={() => turn(true)}>
          {words.forget.ask}
        </button>
      )}
    </section>
  );
};
