import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { loading } from "#web/widget/loader.ts";
import { AboutYou } from "#web/widget/parts/about-you.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { StatusSign } from "#web/widget/parts/status-sign.tsx";
import { anyInView, canDraw, inView, now, openCard } from "#web/widget/state.ts";
import { stationName } from "#web/widget/station-name.ts";
import { words } from "#web/widget/words.ts";

const listedMax = 60;

/** The stations in view as a list: the same as on the map, for keyboards, readers and browsers that cannot draw it. */
export const StationList = () => {
  const all = inView.value;
  const empty = loading.value
    ? words.notices.loading
    : anyInView.value
      ? words.nothingMatches
      : words.nothingInView;
  return (
    <Panel title={words.stationsInView(all.length)} closable={canDraw.value}>
      {all.length === 0 ? <p class="empty">{empty}</p> : null}
      <ul class="stations">
        {all.slice(0, listedMax).map((station) => (
          <li key={station.id}>
            <button type="button" onClick={() => openCard(station.id)}>
              <StatusSign status={station.fuel.status} />
              <span class="lines">
                <span>{stationName(station)}</span>
                <small>{station.addr}</small>
              </span>
              <span class={`lines end ${station.fuel.status}`}>
                <span class="status-word">{words.statuses[station.fuel.status]}</span>
                <small>{ageOf(station.fuel.status, station.fuel.updated)}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {all.length > listedMax ? <p class="hint">{words.first(listedMax)}</p> : null}
      <AboutYou />
    </Panel>
  );
};

function ageOf(status: string, updated: string): string {
  const at = parseTime(updated);
  if (status === "nodata" || at === null) return "";
  return words.ago(Math.floor(Math.max(0, now.value - at) / minuteMs));
}
