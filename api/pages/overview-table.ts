import { html, type Html } from "#api/pages/html.ts";
import type { Language } from "#api/pages/messages.ts";
import { percent, shareBar, sparkline, wholeNumber } from "#api/pages/overview-charts.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import { type DayFigures, type Figures, figuresOf } from "#snapshots/insights/figures.ts";
import type { StoredCity } from "#src/import/read-cities.ts";
import type { Insights } from "#snapshots/insights/insight-store.ts";
import { grades } from "#src/domain/vocabulary.ts";

export const periods = [7, 30, 90] as const;
/** The shares shown by day: of stations without any fuel, or without a grade. */
export const measures = ["no", ...grades] as const;
/** `size`: the population, as the API sorts cities. */
export const sorts = ["size", "name", "stations", ...grades, "no"] as const;

/** The choices in the page's address. */
export interface Choice {
  language: Language;
  /** The text in the address. */
  lang: string;
  days: (typeof periods)[number];
  of: (typeof measures)[number];
  sort: (typeof sorts)[number];
  isUp: boolean;
  all: boolean;
  city: string;
  embed: boolean;
  key: string;
}

const shownMax = 100;

/** The same page with something else. */
export function linkTo(choice: Choice, change: Partial<Choice>): string {
  const { lang, days, of, sort, isUp, all, city, embed, key } = { ...choice, ...change };
  const parameters = Object.entries({
    ...{ lang, city, days: days === 30 ? "" : String(days), of: of === "no" ? "" : of },
    ...{ sort: sort === "size" ? "" : sort },
    ...{ order: isUp ? "asc" : "", all: all ? "1" : "", embed: embed ? "1" : "", key },
  }).filter(([, value]) => value !== "");
  return `overview?${new URLSearchParams(parameters).toString()}`;
}

/** The share that is shown of a day. */
export const shareOf =
  ({ of }: Choice) =>
  ({ share_no, share_out }: DayFigures): number | null =>
    of === "no" ? share_no : share_out[of];

type Row = { city: StoredCity; figures: Figures };

/** The cities with their shares now, and by day. */
export function citiesTable(latest: Insights, choice: Choice): Html {
  const { language } = choice;
  const messages = overviewMessages(language);
  const rows = latest.cities.map((city) => ({
    city,
    figures: figuresOf(latest, city.id, choice.days),
  }));
  const heading = html`<h2>${messages.cities}</h2>`;
  if (rows.length === 0)
    return html`${heading}
      <p>${messages.none}</p>`;
  const shown = sorted(rows, choice).slice(0, choice.all ? undefined : shownMax);
  const isCut = shown.length < rows.length;
  const more = html`<p class="more">
    ${messages.shown(shown.length, rows.length)}.
    <a href="${linkTo(choice, { all: true })}">${messages.all(rows.length)}</a>
  </p>`;
  return html`${heading}
    <div class="scroll" role="region" tabindex="0" aria-label="${messages.cities}">
      <table>
        <thead>
          <tr>
            ${head(choice, "name", messages.city)}${head(choice, "stations", messages.stations)}${grades.map((grade) => head(choice, grade, messages.withoutGrade(grade)))}${head(choice, "no", messages.share)}
            <th scope="col">${messages.trend}</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((row) => line(row, choice))}
        </tbody>
      </table>
    </div>
    ${isCut ? more : null}`;
}

function head(choice: Choice, sort: Choice["sort"], text: string): Html {
  const isChosen = choice.sort === sort;
  // The worst share comes first; names go from the first letter on.
  const isUp = isChosen ? !choice.isUp : sort === "name";
  const link = html`<a href="${linkTo(choice, { sort, isUp })}">${text}</a>`;
  if (!isChosen) return html`<th scope="col">${link}</th>`;
  const [order, sign] = choice.isUp ? ["ascending", "▲"] : ["descending", "▼"];
  return html`<th scope="col" aria-sort="${order!}">
    ${link} <span aria-hidden="true">${sign!}</span>
  </th>`;
}

function line({ city, figures }: Row, choice: Choice): Html {
  const { language } = choice;
  const messages = overviewMessages(language);
  const known = figures.stations - figures.statuses.nodata;
  const cell = (out: number, of: number, share: number | null): Html =>
    of === 0
      ? html`<td><span class="soft">${messages.unknown}</span></td>`
      : html`<td>
          ${percent(share, language)}
          <small>${messages.of(wholeNumber(out, language), wholeNumber(of, language))}</small
          >${shareBar(share)}
        </td>`;
  return html`<tr>
    <th scope="row">
      <a href="${linkTo(choice, { city: city.name })}">${city.name}</a>
      ${city.region === "" || city.region === city.name ? null : html`<small>${city.region}</small>`}
    </th>
    <td>
      ${wholeNumber(figures.stations, language)}
      <small>${messages.known.toLowerCase()}: ${wholeNumber(known, language)}</small>
    </td>
    ${grades.map((grade) => {
      const { out, available, share_out } = figures.grades[grade];
      return cell(out, out + available, share_out);
    })}${cell(figures.statuses.no, known, figures.share_no)}
    <td>${sparkline(figures.days.map(shareOf(choice)), language)}</td>
  </tr>`;
}

function sorted(rows: readonly Row[], { sort, isUp, language }: Choice): readonly Row[] {
  if (sort === "size") return rows;
  const sign = isUp ? 1 : -1;
  if (sort === "name")
    return rows.toSorted((a, b) => sign * a.city.name.localeCompare(b.city.name, language));
  const valueOf = ({ figures }: Row): number | null =>
    sort === "stations"
      ? figures.stations
      : sort === "no"
        ? figures.share_no
        : figures.grades[sort].share_out;
  // Cities of which nothing is known come last, whatever the order.
  return rows.toSorted((a, b) => {
    const [one, other] = [valueOf(a), valueOf(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return sign * (one - other);
  });
}
