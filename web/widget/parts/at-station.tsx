import type { Status } from "#src/domain/vocabulary.ts";
import { Icon } from "#web/kit/icon.tsx";
import { atStation, noteAsked } from "#web/widget/at-station.ts";
import { askForMark } from "#web/widget/position.ts";
import { sendSoon } from "#web/widget/sending.ts";
import { stationName } from "#web/widget/station-name.ts";
import { words } from "#web/widget/words.ts";

/** Asks a driver who stands at a station for its status. */
export const AtStation = () => {
  const station = atStation.value;
  if (station === null) return null;
  const { id } = station;
  const answer = (status: Status) => (): void => {
    askForMark();
    sendSoon({ stationId: id, what: "report", statement: { status } });
    noteAsked(id);
  };
  const question = words.atStation(stationName(station));
  return (
    <div class="waiting-mark at-station" role="group" aria-label={question}>
      <p>
        <strong>{question}</strong>
      </p>
      <button type="button" class="button" onClick={answer("yes")}>
        {words.yes}
      </button>
      <button type="button" class="button" onClick={answer("no")}>
        {words.no}
      </button>
      <button
        type="button"
        class="button"
        aria-label={words.close}
        title={words.close}
        onClick={() => noteAsked(id)}
      >
        <Icon name="close" />
      </button>
    </div>
  );
};
