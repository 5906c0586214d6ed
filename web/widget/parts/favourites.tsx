import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { distanceM } from "#src/domain/geo.ts";
import { Icon } from "#web/kit/icon.tsx";
import type { Station } from "#web/widget/api.ts";
import { expire } from "#web/widget/filters.ts";
import {
  favourites,
  isFavourite,
  knownFavourites,
  loadFavourites,
  silentFavourites,
  toggleFavourite,
} from "#web/widget/favourites.ts";
import { openPanel } from "#web/widget/panels.ts";
import { GradeRow } from "#web/widget/parts/grade-row.tsx";
import { Panel } from "#web/widget/parts/panel.tsx";
import { StationRow } from "#web/widget/parts/station-row.tsx";
import { page } from "#web/widget/page.ts";
import { position } from "#web/widget/position.ts";
import { config, now } from "#web/widget/state.ts";
import { addressBeside, stationName } from "#web/widget/station-name.ts";
import { words } from "#web/widget/words.ts";

/** The star on a station's card: keeps the station among the driver's own. */
export const Star = ({ station }: { station: Station }) => {
  const isOn = isFavourite(station.id);
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isOn}
      aria-label={words.favourite}
      title={words.favourite}
      onClick={() => toggleFavourite(station)}
    >
      <Icon name="star" />
    </button>
  );
};

/** The way to the driver's own stations, as soon as there are any. */
export const FavouritesButton = () =>
  favourites.value.length === 0 ? null : (
    <button type="button" class="button wide" onClick={() => openPanel("favourites")}>
      <Icon name="star" />
      {words.favourites}
    </button>
  );

/** The driver's own stations, wherever they are. */
export const FavouritesPanel = () => {
  const asked = useSignal(false);
  useEffect(() => void loadFavourites().then(() => (asked.value = true)), []);
  const from = position.value;
  const lifetimeH = config.value?.stale_after_hours ?? 24;
  return (
    <Panel title={words.favourites}>
      {page.showFilter ? <GradeRow /> : null}
      <p class="hint" role="status">
        {asked.value || silentFavourites.value.length === 0 ? "" : words.looking}
      </p>
      {favourites.value.length === 0 ? <p class="empty">{words.noFavourites}</p> : null}
      <ul class="stations">
        {knownFavourites.value.map((station) => (
          <StationRow
            key={station.id}
            station={{ ...station, fuel: expire(station.fuel, now.value, lifetimeH) }}
            distance={from === null ? 0 : distanceM(from, station)}
            isOwn={from !== null}
          />
        ))}
      </ul>
      {asked.value && silentFavourites.value.length > 0 ? (
        <>
          <p class="hint">{words.silentFavourites}</p>
          <ul class="told-of">
            {silentFavourites.value.map((one) => (
              <li key={one.id}>
                <span class="lines">
                  <span>{stationName(one)}</span>
                  <small>{addressBeside(one)}</small>
                </span>
                <button
                  type="button"
                  class="button"
                  aria-label={words.unfavourite(stationName(one))}
                  onClick={() => toggleFavourite(one)}
                >
                  {words.remove}
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </Panel>
  );
};
