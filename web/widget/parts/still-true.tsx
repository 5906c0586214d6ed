import type { Station } from "#web/widget/api.ts";
import { cooldowns } from "#web/widget/cooldown.ts";
import { isOwnMark } from "#web/widget/device.ts";
import { askForMark } from "#web/widget/position.ts";
import { sendSoon } from "#web/widget/sending.ts";
import { words } from "#web/widget/words.ts";

/** The quickest mark: "yes" confirms the shown status, "no" opens the form. */
export const StillTrue = ({ station, onNo }: { station: Station; onNo: () => void }) => {
  const { status, pending_status: pending, conflict } = station.fuel;
  if (status === "nodata" || pending !== "" || conflict !== null || isOwnMark(station.id, status))
    return null;
  if (cooldowns.of(station.id) !== null) return null;
  const yes = (): void => {
    askForMark();
    sendSoon({ stationId: station.id, what: "report", statement: { status } });
  };
  return (
    <div class="still-true" role="group" aria-label={words.stillTrue}>
      <strong>{words.stillTrue}</strong>
      <button type="button" class="button" onClick={yes}>
        {words.yes}
      </button>
      <button type="button" class="button" onClick={onNo}>
        {words.no}
      </button>
    </div>
  );
};
