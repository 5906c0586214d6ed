import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { Station } from "#web/widget/api.ts";

type Strip = FunctionComponent<{ station: Station }>;

/** The class of what stands in the strip's place until it is there. */
export const roomOf = ({ fuel }: Station): string =>
  fuel.status === "nodata" || !navigator.onLine ? "" : "last-hours-room";

/** The last 48 hours of a station. Their code is loaded when a card is opened, not with the page. */
export const LastHours = ({ station }: { station: Station }) => {
  const strip = useSignal<{ Strip: Strip } | null>(null);
  useEffect(() => {
    import("#web/widget/parts/history-strip.tsx").then(
      ({ HistoryStrip }) => (strip.value = { Strip: HistoryStrip }),
      // Offline: the card is complete without it.
      () => {},
    );
  }, []);
  const Loaded = strip.value?.Strip;
  // A station of which something is known has a strip, mostly: its room is there before.
  if (Loaded === undefined) return <div class={roomOf(station)} />;
  return <Loaded station={station} />;
};
