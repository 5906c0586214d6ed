import { Button } from "#web/kit/button.tsx";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
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

interface DecidedList<Item> {
  /** Puts a decision in words into the place of its card. */
  add: (id: number, words: string) => void;
  /** The cards of what is open, and the decisions in between, by their ids. */
  inPlace: (open: readonly Item[], card: (item: Item) => ComponentChildren) => ComponentChildren[];
}

/**
 * Decisions that were made one by one since the page was opened, each in the place of its card. `path`: below it
 * `/ID/undo` takes one back; `card`: the beginning of the ids of the cards' headings; `order`: of the list by id.
 */
export function useDecided<Item extends { id: number }>(
  { path, card: heading, order }: { path: string; card: string; order: "up" | "down" },
  reload: () => Promise<void>,
): DecidedList<Item> {
  const [decided, setDecided] = useState<ReadonlyMap<number, string>>(new Map());
  const undone = async (id: number): Promise<void> => {
    await reload();
    setDecided((now) => new Map([...now].filter(([other]) => other !== id)));
    focusAgain(`${heading}-${id}`);
  };
  return {
    add: (id, words) => setDecided((now) => new Map([...now, [id, words]])),
    inPlace: (open, card) =>
      [
        ...open
          .filter(({ id }) => !decided.has(id))
          .map((item) => ({ id: item.id, shown: () => card(item) })),
        ...[...decided].map(([id, words]) => ({
          id,
          shown: () => (
            <Decided key={id} words={words} path={`${path}/${id}/undo`} undone={() => undone(id)} />
          ),
        })),
      ]
        .sort((a, b) => (order === "up" ? a.id - b.id : b.id - a.id))
        .map(({ shown }) => shown()),
  };
}

/** Stands in place of the card of one decision: the decision in words, and the way back (decisions 13.20). */
function Decided({ words, path, undone }: Props) {
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
      <Button words={say("Undo")} of={words} disabled={doing.busy} onClick={undo} />
      <Fault words={doing.fault} />
    </div>
  );
}

/** Gives the focus to a card that is back, unless the viewer is elsewhere by now. */
const focusAgain = (id: string): void => {
  requestAnimationFrame(() => {
    if (document.activeElement === document.body)
      document.getElementById(id)?.focus({ preventScroll: true });
  });
};
