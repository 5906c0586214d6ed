import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { cityName } from "#src/contract/city-name.ts";
import { distanceText } from "#src/contract/driver-texts.ts";
import type { Point } from "#src/domain/geo.ts";
import { along, aside, asideKm, type Goal, lookAlong, way } from "#web/widget/along.ts";
import { grade } from "#web/widget/grade.ts";
import { map } from "#web/widget/map-handle.ts";
import { origin } from "#web/widget/nearest.ts";
import { GradeRow } from "#web/widget/parts/grade-row.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { CitySelect } from "#web/widget/parts/city-select.tsx";
import { StationRow } from "#web/widget/parts/station-row.tsx";
import { pickPlace } from "#web/widget/picking.ts";
import { locate } from "#web/widget/position.ts";
import { cities, view } from "#web/widget/state.ts";
import { alongWords as words } from "#web/widget/words-along.ts";
import { language, words as mapWords } from "#web/widget/words.ts";

const listedMax = 60;
const countryZoom = 7;

/** Stations with the viewer's fuel between here and a place, in the order of the way (decisions 15.48). */
export const AlongPanel = () => {
  const fault = useSignal("");
  const asked = useRef(grade.value);
  useEffect(() => {
    if (asked.current !== grade.value) void lookAlong();
    asked.current = grade.value;
  }, [grade.value]);
  const go = async (to: Goal): Promise<void> => {
    fault.value = mapWords.position.asking;
    const found = await locate();
    const from = typeof found === "string" ? (origin.peek() ?? view.peek()) : found;
    fault.value = from === null ? mapWords.notices.noPosition : "";
    if (from === null) return;
    way.value = { from, isOwn: typeof found !== "string", to };
    await lookAlong();
  };
  const pick = async (): Promise<void> => {
    const near: Point | null = view.peek();
    const at = await pickPlace(near, Math.min(view.peek()?.zoom ?? countryZoom, countryZoom));
    if (at !== null) await go({ ...at, name: words.placeOnMap });
  };
  const between = way.value;
  return (
    <Panel title={mapWords.alongWay} size="half">
      <GradeRow asks />
      <p class="hint">{words.straight}</p>
      {between === null ? (
        <div class="places">
          <strong>{words.to}</strong>
          {cities.value.length === 0 ? null : (
            <CitySelect
              label={words.chooseCity}
              onChoose={({ lat, lon, name }) =>
                void go({ lat, lon, name: cityName(language, name) })
              }
            />
          )}
          {map.value === null ? null : (
            <button type="button" class="button" onClick={() => void pick()}>
              {words.onMap}
            </button>
          )}
        </div>
      ) : (
        <>
          <p>
            {words.from(between.isOwn)} → <strong>{between.to.name}</strong>
          </p>
          <div class="segments orders" role="radiogroup" aria-label={words.aside}>
            {asideKm.map((km) => (
              <label key={km}>
                <input
                  type="radio"
                  name="aside"
                  checked={aside.value === km}
                  onChange={() => {
                    aside.value = km;
                    void lookAlong();
                  }}
                />
                <span>{words.km(km)}</span>
              </label>
            ))}
          </div>
        </>
      )}
      <p class="hint" role="status">
        {fault.value === "" && between !== null ? sentence() : fault.value}
      </p>
      {between === null ? null : (
        <>
          <Found />
          <button type="button" class="button wide" onClick={() => (way.value = null)}>
            {words.other}
          </button>
        </>
      )}
    </Panel>
  );
};

const Found = () => {
  const state = along.value;
  if (state.kind !== "found") return null;
  const { stations } = state;
  return (
    <>
      <ul class="stations">
        {stations.slice(0, listedMax).map(({ station, atM, offM }) => (
          <StationRow
            key={station.id}
            station={station}
            distance={offM}
            isOwn
            where={words.beside(distanceText(language, atM), distanceText(language, offM))}
          />
        ))}
      </ul>
      {stations.length > listedMax ? <p class="hint">{words.first(listedMax)}</p> : null}
    </>
  );
};

function sentence(): string {
  const state = along.value;
  switch (state.kind) {
    case "asking":
      return "";
    case "looking":
      return mapWords.looking;
    case "offline":
      return words.offline;
    case "unavailable":
      return mapWords.notices.unavailableNow;
    case "too-long":
      return words.tooLong(state.km);
    case "found":
      break;
  }
  const { stations, km } = state;
  return stations.length === 0
    ? words.none(grade.value, km)
    : words.found(grade.value, stations.length, km);
}
