import { useEffect, useRef } from "preact/hooks";
import { Icon } from "#web/kit/icon.tsx";
import { grade } from "#web/widget/grade.ts";
import { lookAgain, type Nearest, nearest, openNearest, showNearest } from "#web/widget/nearest.ts";
import { page } from "#web/widget/page.ts";
import { GradeRow } from "#web/widget/parts/grade-row.tsx";
import { useClosed } from "#web/widget/parts/hours-line.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { TellMeLater } from "#web/widget/parts/tell-me-later.tsx";
import { StationRow } from "#web/widget/parts/station-row.tsx";
import { words } from "#web/widget/words.ts";

/** The way to the nearest stations that have the viewer's fuel. */
export const NearestButton = () => (
  <button type="button" class="nearest-button" onClick={() => void openNearest()}>
    <Icon name="route" />
    {words.nearest(grade.value)}
  </button>
);

/** Stations with the viewer's fuel, the nearest first. */
export const NearestPanel = () => {
  const state = nearest.value;
  const asked = useRef(grade.value);
  useEffect(() => {
    if (asked.current === grade.value) return;
    asked.current = grade.value;
    void lookAgain();
  }, [grade.value]);
  // The sheet has its height by then.
  useEffect(showNearest, [state]);
  useClosed(state.kind === "found" ? state.stations.map(({ station }) => station) : []);
  return (
    <Panel title={words.nearest(grade.value)} size="half">
      {page.showFilter ? <GradeRow /> : null}
      <p class="hint" role="status">
        {sentence(state)}
      </p>
      {state.kind === "no-position" && page.showSearch ? (
        <button type="button" class="button wide" onClick={toSearch}>
          {words.nearestCity}
        </button>
      ) : null}
      {state.kind === "unavailable" ? (
        <button type="button" class="button wide" onClick={() => void lookAgain()}>
          {words.again}
        </button>
      ) : null}
      {state.kind === "found" ? (
        <ul class="stations">
          {state.stations.map(({ station, distance }) => (
            <StationRow key={station.id} station={station} distance={distance} isOwn />
          ))}
        </ul>
      ) : null}
      <TellMeLater grade={grade.value} from={"from" in state ? state.from : null} />
    </Panel>
  );
};

const toSearch = (): void => document.querySelector<HTMLElement>(".search input")?.focus();

function sentence(state: Nearest): string {
  if (state.kind === "asking") return words.position.asking;
  if (state.kind === "looking") return words.looking;
  if (state.kind === "unavailable") return words.notices.unavailableNow;
  if (state.kind === "no-position")
    return [
      state.denied ? words.notices.positionDenied : words.notices.noPosition,
      page.showSearch ? words.nearestByCity : "",
    ].join(" ");
  return state.stations.length === 0
    ? words.nobodyHas(grade.value, state.radiusKm)
    : words.within(state.radiusKm, state.from.city);
}
