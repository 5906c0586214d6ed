import type { Station } from "#web/widget/api.ts";
import { later } from "#web/widget/parts/later.tsx";

/** The class of what stands in the strip's place until it is there. */
export const roomOf = ({ fuel }: Station): string =>
  fuel.status === "nodata" || !navigator.onLine ? "" : "last-hours-room";

/** The last 48 hours of a station. One of which something is known has a strip, mostly: its room is there before. */
export const LastHours = later(
  (parts) => parts.HistoryStrip,
  ({ station }) => <div class={roomOf(station)} />,
);
