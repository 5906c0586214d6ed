import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { say } from "#web/widget/message.ts";
import { dropWaiting, takeBackLeftMs, takeLastBack, waitingThere } from "#web/widget/take-back.ts";
import { words } from "#web/widget/words.ts";

interface Props {
  stationId: string;
  /** The mark is gone: the next one may be made. */
  onTaken: () => void;
}

/** Offers for two minutes to take an own mark back (decisions 15.35). */
export const TakeBack = ({ stationId, onTaken }: Props) => {
  const tick = useSignal(0);
  const busy = useSignal(false);
  const shown = useRef(false);
  void tick.value;
  const waits = waitingThere(stationId);
  const leftS = Math.ceil(takeBackLeftMs(stationId) / 1000);
  const isOffered = waits !== null || leftS > 0;
  useEffect(() => {
    if (!isOffered) return undefined;
    const timer = setInterval(() => (tick.value += 1), 1000);
    return () => clearInterval(timer);
  }, [isOffered]);
  if (isOffered) shown.current = true;
  // Its place stays as long as the card is open: nothing jumps when the time is over.
  if (!shown.current) return null;
  const take = async (): Promise<void> => {
    busy.value = true;
    const told =
      waits === null
        ? await takeLastBack(stationId)
        : await dropWaiting(waits, stationId).then(() => ({
            taken: true,
            text: words.takeBack.done,
          }));
    busy.value = false;
    say(told.text);
    if (told.taken) onTaken();
  };
  return (
    <div class={`take-back${isOffered ? "" : " over"}`}>
      <button type="button" class="button" disabled={busy.value} onClick={() => void take()}>
        {words.takeBack.button}
      </button>
      {waits === null ? (
        <span class="hint" aria-hidden="true">
          {words.takeBack.left(`${Math.floor(leftS / 60)}:${String(leftS % 60).padStart(2, "0")}`)}
        </span>
      ) : null}
    </div>
  );
};
