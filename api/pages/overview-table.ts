import { html, type Html } from "#api/pages/html.ts";
import { type Language, messagesOf } from "#api/pages/messages.ts";
import { formats, percent, shareBar, sparkline, numberText } from "#api/pages/overview-charts.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import {
  type DayFigures,
  type FiguresNow,
  figuresNow,
  sharesOfDays,
} from "#snapshots/insights/figures.ts";
import type { StoredCity } from "#src/import/read-cities.ts";
import type { Insights } from "#snapshots/insights/insight-store.ts";
import { perObject, remembered } from "#src/infrastructure/lists.ts";
import { noCounts } from "#src/domain/insights.ts";
import { grades } from "#src/domain/vocabulary.ts";

export const periods = [7, 30, 90] as const;
/** The shares shown by day: of stations without any fuel, or without a grade. */
export const measures = ["no", ...grades] as const;
/** `size`: the population, as the API sorts cities. */
export const sorts = ["size", "name", "stations", ...grades, "no"] as const;

/** The choices in the page's address. */
export interface Choice {
  language: Language;
  /** The language, where the address names one. */
  lang: string;
  days: (typeof periods)[number];
  of: (typeof measures)[number];
  sort: (typeof sorts)[number];
  isUp: boolean;
  /** From 1. */
  page: number;
  city: string;
  embed: boolean;
  key: string;
}

/** Cities of a page: what it costs does not grow with the country. */
const perPage = 50;

/** The same page with something else. */
export function linkTo(choice: Choice, change: Partial<Choice>): string {
  const { lang, days, of, sort, isUp, page, city, embed, key } = { ...choice, ...change };
  const parameters = Object.entries({
    ...{ lang, city, days: days === 30 ? "" : String(days), of: of === "no" ? "" : of },
    ...{ sort: sort === "size" ? "" : sort },
    ...{
      order: isUp ? "asc" : "",
      page: page > 1 ? String(page) : "",
      embed: embed ? "1" : "",
      key,
    },
  }).filter(([, value]) => value !== "");
  return `overview?${new URLSearchParams(parameters).toString()}`;
}

/** The share that is shown of a day. */
export const shareOf =
  ({ of }: Choice) =>
  ({ share_no, share_out }: DayFigures): number | null =>
    of === "no" ? share_no : share_out[of];

type Row = { city: StoredCity; figures: FiguresNow };

/** Made once for the figures of a minute, as is each order: most of what a page cost with 1,200 cities. */
const ordersOf = perObject(({ cities, counts }: Insights) => {
  const rows = cities.map((city) => ({ city, figures: figuresNow(counts[city.id] ?? noCounts()) }));
  return remembered((order) => sorted(rows, JSON.parse(order) as Order));
});

/** The cities with their shares now, and by day. */
export function citiesTable(latest: Insights, choice: Choice): Html {
  const { language } = choice;
  const messages = overviewMessages(language);
  const { sort, isUp } = choice;
  const rows = ordersOf(latest)(JSON.stringify({ sort, isUp, language } satisfies Order));
  const heading = html`<h2>${messages.cities}</h2>`;
  if (rows.length === 0)
    return html`${heading}
      <p>${messages.none}</p>`;
  const page = Math.min(choice.page, Math.ceil(rows.length / perPage));
  const first = (page - 1) * perPage;
  const shown = rows.slice(first, first + perPage);
  const sharesOf = sharesOfDays(latest, choice.days, choice.of);
  const toCity = `${linkTo(choice, { city: "", page: 1 })}&city=`.replace("?&", "?");
  const { before, next } = messagesOf(language);
  const at = (to: number, text: string): Html | null =>
    to < 1 || (to - 1) * perPage >= rows.length
      ? null
      : html` <a href="${linkTo(choice, { page: to })}">${text}</a>`;
  const more = html`<p class="more">
    ${messages.shown(first + 1, first + shown.length, rows.length)}${at(page - 1, before)}${at(page + 1, next)}
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
          ${shown.map((row) => line({ ...row, shares: sharesOf(row.city.id) }, language, toCity))}
        </tbody>
      </table>
    </div>
    ${rows.length > perPage ? more : null}`;
}

function head(choice: Choice, sort: Choice["sort"], text: string): Html {
  const isChosen = choice.sort === sort;
  // The worst share comes first; names go from the first letter on.
  const isUp = isChosen ? !choice.isUp : sort === "name";
  const link = html`<a href="${linkTo(choice, { sort, isUp, page: 1 })}">${text}</a>`;
  if (!isChosen) return html`<th scope="col">${link}</th>`;
  const [order, sign] = choice.isUp ? ["ascending", "▲"] : ["descending", "▼"];
  return html`<th scope="col" aria-sort="${order!}">
    ${link} <span aria-hidden="true">${sign!}</span>
  </th>`;
}

type Shown = Row & { shares: readonly (number | null)[] };

function line({ city, figures, shares }: Shown, language: Language, toCity: string): Html {
  const messages = overviewMessages(language);
  const known = figures.stations - figures.statuses.nodata;
  const cell = (out: number, of: number, share: number | null): Html =>
    of === 0
      ? html`<td><span class="soft">${messages.unknown}</span></td>`
      : html`<td>
          ${percent(share, language)}
          <small>${messages.of(numberText(out, language), numberText(of, language))}</small
          >${shareBar(share)}
        </td>`;
  return html`<tr>
    <th scope="row">
      <a href="${toCity}${encodeURIComponent(city.name)}">${city.name}</a>
      ${city.region === "" || city.region === city.name ? null : html`<small>${city.region}</small>`}
    </th>
    <td>
      ${numberText(figures.stations, language)}
      <small>${messages.known.toLowerCase()}: ${numberText(known, language)}</small>
    </td>
    ${grades.map((grade) => {
      const { out, available, share_out } = figures.grades[grade];
      return cell(out, out + available, share_out);
    })}${cell(figures.statuses.no, known, figures.share_no)}
    <td>${sparkline(shares, language)}</td>
  </tr>`;
}

type Order = Pick<Choice, "sort" | "isUp" | "language">;

function sorted(rows: readonly Row[], { sort, isUp, language }: Order): readonly Row[] {
  if (sort === "size") return rows;
  const sign = isUp ? 1 : -1;
  if (sort === "name")
    return rows.toSorted(
      (a, b) => sign * formats[language].names.compare(a.city.name, b.city.name),
    );
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
