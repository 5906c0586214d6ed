import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import { factsOf, type Listed, nameOf } from "#api/pages/station-text.ts";
import { cityName } from "#src/contract/city-name.ts";
import { statusSigns } from "#src/contract/driver-texts.ts";
import type { Point } from "#src/domain/geo.ts";
import { type Grade, grades } from "#src/domain/vocabulary.ts";

/** Where the map begins, and with which fuel: what the address says, else what the device has said before. */
export interface Beginning {
  /** The parameters that links of the page take along. */
  given: URLSearchParams;
  fuel: Grade | null;
  /** Null: nobody has told. `city` is empty for a point. */
  place: (Point & { zoom: number; city: string }) | null;
  /** The stations there: with the fuel, where one was asked for. */
  stations: readonly Listed[];
  /** The largest cities, for those of whom nothing is known; none where the device knows its place by itself. */
  cities: readonly string[];
}

interface Early extends Beginning {
  title: string;
  language: Language;
  now: number;
  credit: Html | null;
  /** Path from the page to the service's root. */
  root: string;
  /** The page is the operator's own map, which begins with an answer (decisions 15.43). */
  answers: boolean;
}

/**
 * The stations where the map will open, in the map's own page: they can be read before its script has come, and without
 * one (decisions 15.13). The script takes them away or makes them its list.
 */
export function earlyList(early: Early): Html {
  const { stations, title, language, now, root, answers, place, fuel, credit } = early;
  const messages = messagesOf(language);
  const { lat, lon, zoom, city } = place ?? { lat: "", lon: "", zoom: "", city: "" };
  return html`<section
    id="early"
    class="${answers ? "answer" : ""}"
    aria-label="${title}"
    data-lat="${lat}"
    data-lon="${lon}"
    data-zoom="${zoom}"
    data-city="${city}"
  >
    <h2>${title}</h2>
    ${answers ? choices(early) : null}
    <ul class="stations">
      ${stations.map((station) => row(station, language, now, root))}
    </ul>
    ${place !== null && stations.length === 0 ? html`<p class="empty">${messages.nobodyHas(fuel)}</p>` : null}
    <p>
      <a href="${root}list?lang=${language}" target="_blank" rel="noopener"
        >${messages.wholeList}</a
      >
    </p>
    ${credit}
  </section>`;
}

/** The fuel, the own place and the city, each one tap away: links, so that they need no script. */
function choices({ language, given, fuel, cities }: Early): Html {
  const messages = messagesOf(language);
  const to = (name: string, value: string): string => {
    const changed = new URLSearchParams(given);
    if (name === "city") for (const other of ["lat", "lon", "zoom"]) changed.delete(other);
    if (changed.get(name) === value) changed.delete(name);
    else changed.set(name, value);
    return `?${changed.toString()}`;
  };
  return html`${fuel === null ? html`<p class="which">${messages.whichFuel}</p>` : null}
    <nav class="grade-choice" aria-label="${messages.whichFuel}">
      ${grades.map(
        (one) =>
          html`<a href="${to("fuel", one)}" aria-current="${one === fuel ? "true" : "false"}"
            >${messages.gradeName(one)}</a
          >`,
      )}
    </nav>
    ${cities.length > 0 ? html`<p class="hint">${messages.whereAreYou}</p>` : null}
    <p class="places">
      <a class="nearest-button" href="#near">
        <svg class="icon" width="20" height="20" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3" />
        </svg>
        ${messages.nearMe}</a
      >
      ${cities.map((city) => html`<a class="button" href="${to("city", city)}">${cityName(language, city)}</a> `)}
    </p>`;
}

function row(station: Listed, language: Language, now: number, root: string): Html {
  const { status, facts, prices, age } = factsOf(station, language, now);
  const known = station.fuel.status;
  return html`<li class="station-row">
    <a
      href="${root}s/${encodeURIComponent(station.id)}"
      data-id="${station.id}"
      target="_blank"
      rel="noopener"
    >
      <span class="lines"><span>${nameOf(station)}</span><small>${facts}</small></span>
      <span class="lines end ${known}"
        ><span class="status-word"
          ><span aria-hidden="true">${statusSigns[known]}</span> ${status}</span
        ><small>${age}</small></span
      >
      <span class="lines more"
        ><small>${prices.join(" · ")}</small><small>${station.addr}</small></span
      >
    </a>
  </li> `;
}
