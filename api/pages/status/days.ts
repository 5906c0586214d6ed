import { html, type Html } from "#api/pages/html.ts";
import type { Language } from "#api/pages/messages.ts";
import { dayName } from "#api/pages/overview-charts.ts";
import { statusMessages } from "#api/pages/status/messages.ts";
import type { ServiceState } from "#api/pages/status/watch.ts";
import {
  type DayOfFeeds,
  type Feed,
  feeds,
  type Minutes,
  sumOf,
} from "#src/domain/service-state.ts";
import { formatDay } from "#src/domain/time.ts";

/** Two digits after the point, cut: 99.999 % is no 100 %. */
export const wellShare = ({ well, of }: Minutes, language: Language): string =>
  new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 2 }).format(
    Math.floor((well / of) * 10_000) / 10_000,
  );

/** A day with at least this share of well minutes is hardly disturbed. */
const someFrom = 0.95;
const classOf = (minutes: Minutes | null): string => {
  if (minutes === null) return "none";
  const share = minutes.well / minutes.of;
  return share === 1 ? "ok" : share >= someFrom ? "some" : "bad";
};
const [wide, high, gap] = [8, 34, 2];

/** A bar for each day, with the same in words. */
export function dayBars(days: readonly DayOfFeeds[], feed: Feed, language: Language): Html {
  const messages = statusMessages(language);
  const sum = sumOf(days, feed);
  if (sum === null) return html`<p class="soft">${messages.noRecord}</p>`;
  const share = wellShare(sum, language);
  const counted = days.filter((day) => day.feeds[feed] !== null).length;
  const text = messages.chart(messages.feeds[feed], share, worstOf(days, feed, language));
  return html`<svg
      class="days"
      role="img"
      aria-label="${text}"
      viewBox="0 0 ${days.length * wide - gap} ${high}"
      preserveAspectRatio="none"
    >
      ${days.map(
        (day, n) =>
          html`<rect
            class="${classOf(day.feeds[feed])}"
            x="${n * wide}"
            width="${wide - gap}"
            height="${high}"
          />`,
      )}
    </svg>
    <div class="ends">
      <span>${messages.from(days.length)}</span> <span>${messages.well(share, counted)}</span>
      <span>${messages.today}</span>
    </div>`;
}

function worstOf(days: readonly DayOfFeeds[], feed: Feed, language: Language): string {
  const messages = statusMessages(language);
  const shareOf = (day: DayOfFeeds): number => {
    const minutes = day.feeds[feed];
    return minutes === null ? 1 : minutes.well / minutes.of;
  };
  const worst = days.reduce((one, day) => (shareOf(day) < shareOf(one) ? day : one));
  return shareOf(worst) === 1
    ? messages.noWorst
    : messages.worst(nameOf(worst, language), wellShare(worst.feeds[feed]!, language));
}

const nameOf = ({ at }: DayOfFeeds, language: Language): string => dayName(formatDay(at), language);
const lostOf = (minutes: Minutes | null): number =>
  minutes === null ? 0 : minutes.of - minutes.well;

/** The minutes that each feed lacked on days with a fault, the newest first. */
export function faultTable({ days }: ServiceState, language: Language): Html {
  const messages = statusMessages(language);
  const faulty = days.filter((day) => feeds.some((feed) => lostOf(day.feeds[feed]) > 0));
  if (faulty.length === 0) return html``;
  return html`<details>
    <summary>${messages.faults}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="${messages.faults}">
      <table>
        <thead>
          <tr>
            <th scope="col">${messages.day}</th>
            ${feeds.map((feed) => html`<th scope="col">${messages.feeds[feed]}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${faulty.toReversed().map(
            (day) =>
              html`<tr>
                <th scope="row">${nameOf(day, language)}</th>
                ${feeds.map((feed) => html`<td>${messages.lost(lostOf(day.feeds[feed]))}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
}
