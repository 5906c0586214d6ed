import { html, type Html } from "#api/pages/html.ts";
import type { Language } from "#api/pages/messages.ts";
import { statusMessages } from "#api/pages/status/messages.ts";
import type { ServiceState } from "#api/pages/status/watch.ts";
import { shownDays } from "#src/alarms/service/days.ts";
import type { ConsoleIncident, ConsolePublicText } from "#src/contract/console.ts";
import { formatTime } from "#src/domain/time.ts";

/** Open incidents, to stand above the feeds, and those that are over. */
export function incidentLists(
  { incidents, readAt }: ServiceState,
  language: Language,
): { open: Html; past: Html } {
  const messages = statusMessages(language);
  const open = incidents.filter(({ closed }) => closed === null);
  const past = incidents.filter(({ closed }) => closed !== null);
  const list = (some: readonly ConsoleIncident[]): Html =>
    html`<ul class="incidents">
      ${some.map((incident) => item(incident, language))}
    </ul>`;
  return {
    open:
      open.length === 0
        ? html``
        : html`<h2>${messages.incidents}</h2>
            ${list(open)}`,
    past:
      readAt === null
        ? html``
        : html`<h2>${messages.past(shownDays)}</h2>
            ${past.length === 0 ? html`<p class="soft">${messages.none}</p>` : list(past)}`,
  };
}

function item(
  { title, feeds, opened, closed, updates }: ConsoleIncident,
  language: Language,
): Html {
  const messages = statusMessages(language);
  const when =
    closed === null
      ? messages.since(formatTime(opened))
      : messages.times(formatTime(opened), formatTime(closed));
  return html`<li class="card ${closed === null ? "degraded" : ""}">
    <div class="top">
      <h3>${inWords(title, language)}</h3>
      ${closed === null ? html`<span class="state">${messages.open}</span>` : null}
    </div>
    <p class="soft">${[when, ...feeds.map((feed) => messages.feeds[feed])].join(" · ")}</p>
    <ol>
      ${updates
        .toReversed()
        .map(
          ({ at, text }) =>
            html`<li><time>${formatTime(at)}</time> ${inWords(text, language)}</li>`,
        )}
    </ol>
  </li>`;
}

/** The text in the reader's language where there is one; else the English text, marked as English. */
function inWords({ en, ru }: ConsolePublicText, language: Language): Html {
  if (language === "en") return html`${en}`;
  return ru === null ? html`<span lang="en">${en}</span>` : html`${ru}`;
}
