import { useEffect, useRef } from "preact/hooks";
import { useDoing } from "#web/console/doing.ts";
import { Fault } from "#web/kit/fault.tsx";
import { say } from "#web/console/words.ts";

interface Props {
  /** The decision in words. */
  words: string;
  /** The call that takes it back. */
  path: string;
  /** Called when that is done. */
  undone: () => Promise<void>;
}

/** Stands in place of the card of one decision: the decision in words, and the way back (decisions 13.20). */
export function Decided({ words, path, undone }: Props) {
  const doing = useDoing();
  const place = useRef<HTMLDivElement>(null);
  // The button that was pressed is gone, and the focus with it: the next Tab goes on from here.
  useEffect(() => {
    if (document.activeElement === document.body) place.current?.focus({ preventScroll: true });
  }, []);
  const undo = async (): Promise<void> => {
    const done = await doing.run(say("The decision was taken back"), "POST", path);
    if (done !== null) await undone();
  };
  return (
    <div ref={place} class="banner good decided" tabIndex={-1}>
      <p>{words}</p>
      <button type="button" disabled={doing.busy} onClick={() => void undo()}>
        {say("Undo")}
        <span class="unseen"> {words}</span>
      </button>
      <Fault words={doing.fault} />
    </div>
  );
}

/** Gives the focus to a card that is back, unless the viewer is elsewhere by now. */
export const focusAgain = (id: string): void => {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body)
      document.getElementById(id)?.focus({ preventScroll: true });
  });
};
