import { useEffect } from "preact/hooks";
import { hoursText } from "#src/contract/driver-texts.ts";
import { minuteMs } from "#src/domain/units.ts";
import type { Station } from "#web/widget/api.ts";
import { askClosed, closedText, isClosed } from "#web/widget/closed.ts";
import { now } from "#web/widget/state.ts";
import { language, words } from "#web/widget/words.ts";

/** Asks which of the listed stations are closed, when they are shown and every few minutes. */
export function useClosed(stations: readonly Station[]): void {
  const ids = stations.map(({ id }) => id).join();
  useEffect(() => void askClosed(stations), [ids, Math.floor(now.value / minuteMs)]);
}

/** A station's opening hours, and that it is closed now, or for some time: which does not mean that it has no fuel. */
export const HoursLine = ({ station }: { station: Station }) => {
  useClosed([station]);
  const { opening_hours: hours, closed } = station;
  const shut = closed === undefined ? "" : closedText(language, closed, now.value);
  const isShut = shut !== "" || isClosed(station);
  if (hours === undefined && !isShut) return null;
  return (
    <p class="hours">
      {isShut ? <strong>{shut || words.closedNow}</strong> : null}
      {isShut && hours !== undefined ? " · " : null}
      {hours === undefined ? null : hoursText(language, hours)}
    </p>
  );
};
