import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import { factsOf, type Listed, nameOf } from "#api/pages/station-text.ts";
import { statusSigns } from "#src/contract/driver-texts.ts";

interface Early {
  stations: readonly Listed[];
  title: string;
  language: Language;
  now: number;
  credit: Html | null;
  /** Path from the page to the service's root. */
  root: string;
}

/**
 * The stations where the map will open, in the map's own page: they can be read before its script has come, and without
 * one (decisions 15.13). The script takes them away or makes them its list.
 */
export const earlyList = ({ stations, title, language, now, root, credit }: Early): Html =>
  html`<section id="early" aria-label="${title}">
    <h2>${title}</h2>
    <ul class="stations">
      ${stations.map((station) => row(station, language, now, root))}
    </ul>
    <p>
      <a href="${root}list?lang=${language}" target="_blank" rel="noopener"
        >${messagesOf(language).wholeList}</a
      >
    </p>
    ${credit}
  </section>`;

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
      <span class="lines"
        ><span>${nameOf(station)}</span><small>${facts}</small><small>${prices.join(" · ")}</small
        ><small>${station.addr}</small></span
      >
      <span class="lines end ${known}"
        ><span class="status-word"
          ><span aria-hidden="true">${statusSigns[known]}</span> ${status}</span
        ><small>${age}</small></span
      >
    </a>
  </li> `;
}
