import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Statement } from "#web/widget/mark.ts";
import { MarkDetails } from "#web/widget/parts/mark-details.tsx";
import { askForMark } from "#web/widget/position.ts";
import { addToWaiting, letGo, sendNow, type Said } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

/** Details for a mark that has not gone out yet; it waits as long as this sheet is open. */
export const SecondSheet = ({ said }: { said: Said }) => {
  const { status } = said.statement;
  const details = useSignal<Omit<Statement, "status">>({});
  const form = useRef<HTMLFormElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);
  // A page that is closed here sends the details so far, unless a half-written field would spoil the whole mark.
  useEffect(() => {
    if (form.current?.checkValidity() === true) addToWaiting(details.value);
  }, [details.value]);
  useEffect(() => letGo, []);
  const without = (): void => {
    askForMark();
    addToWaiting({});
    letGo();
  };
  return (
    <form
      ref={form}
      class="mark-form"
      onSubmit={(event) => {
        event.preventDefault();
        // The position that the mark began with may be too old by now.
        askForMark();
        addToWaiting(details.value);
        sendNow();
      }}
    >
      <h3 ref={title} tabIndex={-1}>
        {words.saying(words.statuses[status])}
      </h3>
      <MarkDetails status={status} details={details} />
      <div class="actions">
        <button type="button" class="button" onClick={without}>
          {words.lessDetails}
        </button>
        <button type="submit" class="button primary">
          {words.send}
        </button>
      </div>
    </form>
  );
};
