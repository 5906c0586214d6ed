import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { cityName } from "#src/contract/city-name.ts";
import { chanceOf } from "#src/domain/grade-answer.ts";
import { Icon } from "#web/kit/icon.tsx";
import type { City } from "#web/widget/api.ts";
import { grade } from "#web/widget/grade.ts";
import { keepCity } from "#web/widget/kept-view.ts";
import { trouble } from "#web/widget/loader.ts";
import { map } from "#web/widget/map-handle.ts";
import {
  changePlace,
  lookAgain,
  type Nearest,
  nearest,
  openNearest,
  renewNearest,
  showNearest,
} from "#web/widget/nearest.ts";
import { type Order, ordered } from "#web/widget/ordering.ts";
import { page } from "#web/widget/page.ts";
import { openPanel } from "#web/widget/panels.ts";
import { Bell, TellMeLater } from "#web/widget/parts/tell-me-later.tsx";
import { CitySelect } from "#web/widget/parts/city-select.tsx";
import { GradeRow } from "#web/widget/parts/grade-row.tsx";
import { useClosed } from "#web/widget/parts/hours-line.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { StationRow } from "#web/widget/parts/station-row.tsx";
import { mayLocate } from "#web/widget/position.ts";
import { cities, hasNoCities, now, view } from "#web/widget/state.ts";
import { language, locale, words } from "#web/widget/words.ts";

const listedMax = 30;
const citiesShown = 12;

/** The way to the nearest stations that have the viewer's fuel. */
export const NearestButton = () => (
  <button type="button" class="nearest-button" onClick={() => void openNearest()}>
    <Icon name="route" />
    {words.nearest(grade.value)}
  </button>
);

/** It stays while a card lies on the list. */
const order = signal<Order>("near");

/** Stations with the viewer's fuel: the nearest, the likeliest, the freshest or the cheapest first. */
export const NearestPanel = () => {
  const state = nearest.value;
  const isTelling = useSignal(false);
  const asked = useRef(grade.value);
  useEffect(() => {
    if (asked.current === grade.value) return;
    asked.current = grade.value;
    void lookAgain();
  }, [grade.value]);
  useEffect(() => void renewNearest(), [now.value, trouble.value]);
  // The sheet has its height by then.
  useEffect(showNearest, [state, map.value]);
  useClosed(
    state.kind === "found" ? state.stations.slice(0, listedMax).map(({ station }) => station) : [],
  );
  const from = "from" in state ? state.from : null;
  // Without a network nobody can be asked to tell.
  const canAsk = state.kind === "found" && state.asOf === null;
  return (
    <Panel
      title={words.nearest(grade.value)}
      size="half"
      waits={state.kind === "looking" || (state.kind === "no-position" && state.denied === null)}
      action={canAsk ? <Bell isOn={isTelling} /> : null}
    >
      {page.showFilter ? <GradeRow asks /> : null}
      {isTelling.value && canAsk ? <TellMeLater grade={grade.value} from={from} /> : null}
      <p class="hint" role="status">
        {sentence(state)}
      </p>
      {state.kind === "no-position" ? <Places isRefused={state.denied !== null} /> : null}
      {state.kind === "unavailable" ? (
        <button type="button" class="button wide" onClick={() => void lookAgain()}>
          {words.again}
        </button>
      ) : null}
      {state.kind === "found" ? <Found found={state} /> : null}
      {from === null || state.kind === "looking" ? null : (
        <>
          <button type="button" class="button wide" onClick={changePlace}>
            {words.changePlace}
          </button>
          <button type="button" class="button wide" onClick={() => openPanel("along")}>
            {words.alongWay}
          </button>
        </>
      )}
    </Panel>
  );
};

const Found = ({ found: { stations, untold } }: { found: Extract<Nearest, { kind: "found" }> }) => {
  const isKnown = stations.some(({ station }) => chanceOf(station, grade.value) !== null);
  const orders: readonly Order[] = [
    "near",
    ...(isKnown ? (["likely"] as const) : []),
    "fresh",
    ...(grade.value === null ? [] : (["cheap"] as const)),
  ];
  const by = orders.includes(order.value) ? order.value : "near";
  const asked = { order: by, grade: grade.value, now: now.value };
  const { recent, old } = ordered(stations, asked);
  return (
    <>
      {stations.length < 2 ? null : (
        <div class="segments orders" role="radiogroup" aria-label={words.orderBy}>
          {orders.map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="order"
                checked={by === one}
                onChange={() => (order.value = one)}
              />
              <span>{words.orders[one]}</span>
            </label>
          ))}
        </div>
      )}
      <Rows rows={recent.slice(0, listedMax)} />
      {untold.length === 0 ? null : (
        <>
          <h3 class="apart">{words.untold}</h3>
          <Rows rows={untold} />
        </>
      )}
      {old.length === 0 ? null : (
        <>
          <h3 class="apart">{words.longAgo}</h3>
          <Rows rows={old.slice(0, listedMax)} />
        </>
      )}
    </>
  );
};

const Rows = ({ rows }: { rows: ReturnType<typeof ordered<Row>>["recent"] }) => (
  <ul class="stations">
    {rows.map(({ station, distance }) => (
      <StationRow key={station.id} station={station} distance={distance} isOwn />
    ))}
  </ul>
);

type Row = Extract<Nearest, { kind: "found" }>["stations"][number];

/** Where to look: around the driver, a city, or the middle of the map. */
const Places = ({ isRefused }: { isRefused: boolean }) => {
  const at = view.value;
  const all = cities.value;
  // The city that a partner's address names is the first.
  const named = all.find(({ name }) => name === page.city);
  const largest = all.filter((city) => city !== named).slice(0, citiesShown);
  const go = ({ lat, lon, name }: City): void => {
    keepCity(name);
    void openNearest({ lat, lon, city: name });
  };
  return (
    <div class="places">
      {mayLocate.value ? (
        <button type="button" class="nearest-button" onClick={() => void openNearest()}>
          <Icon name="locate" />
          {words.nearMe}
        </button>
      ) : null}
      {[...(named === undefined ? [] : [named]), ...largest].map((city) => (
        <button
          key={`${city.name} ${city.region}`}
          type="button"
          class="button"
          onClick={() => go(city)}
        >
          {cityName(language, city.name)}
        </button>
      ))}
      {all.length > citiesShown ? <CitySelect label={words.allCities} onChoose={go} /> : null}
      {at !== null && (isRefused || !page.isOwnMap || hasNoCities.value) ? (
        <button
          type="button"
          class="button"
          onClick={() => {
            const { lat, lon } = map.value?.middle() ?? at;
            void openNearest({ lat, lon, city: "" });
          }}
        >
          {words.aroundMap}
        </button>
      ) : null}
    </div>
  );
};

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat(locale, {
  ...{ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" },
});

/** `10:15`, of another day with its date. */
const moment = (at: number): string =>
  new Date(at).toDateString() === new Date().toDateString()
    ? clock.format(at)
    : dayAndClock.format(at);

function sentence(state: Nearest): string {
  if (state.kind === "asking") return words.position.asking;
  if (state.kind === "looking") return words.looking;
  if (state.kind === "unavailable")
    return state.offline ? words.notices.offline : words.notices.unavailableNow;
  if (state.kind === "no-position") {
    const { positionDenied, noPosition } = words.notices;
    return state.denied === null
      ? words.whereAreYou
      : `${state.denied ? positionDenied : noPosition} ${words.nearestByCity}`;
  }
  const { stations, radiusKm, from, asOf } = state;
  const found =
    stations.length === 0
      ? words.nobodyHas(grade.value, radiusKm)
      : words.within(radiusKm, from.city === null ? null : cityName(language, from.city));
  return asOf === null ? found : `${words.asOf(moment(asOf))} ${found}`;
}
