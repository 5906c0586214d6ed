import { html, type Html } from "#api/pages/html.ts";
import { dayChart, dayName, percent, shareBar, wholeNumber } from "#api/pages/overview-charts.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import { type Choice, linkTo, periods } from "#api/pages/overview-table.ts";
import type { Figures } from "#snapshots/insights/figures.ts";
import { grades, servedStatuses } from "#src/domain/vocabulary.ts";

/** The shares without each grade, and without any fuel, now. */
export function tiles(
  { statuses, stations, share_no, grades: byGrade }: Figures,
  choice: Choice,
): Html {
  const messages = overviewMessages(choice.language);
  const tile = (name: string, out: number, known: number, share: number | null): Html => {
    const [some, all] = [out, known].map((one) => wholeNumber(one, choice.language));
    return html`<li>
      ${name} <b>${percent(share, choice.language)}</b>
      <span>${known === 0 ? messages.unknown : messages.of(some!, all!)}</span>${shareBar(share)}
    </li>`;
  };
  return html`<h2>${messages.now}</h2>
    <ul class="tiles">
      ${grades.map((grade) => {
        const { out, available, share_out } = byGrade[grade];
        return tile(messages.withoutGrade(grade), out, out + available, share_out);
      })}
      ${tile(messages.noFuel, statuses.no, stations - statuses.nodata, share_no)}
    </ul>`;
}

/** The share without fuel by day, as bars and as a table. */
export function daySection({ days }: Figures, choice: Choice): Html {
  const { language } = choice;
  const messages = overviewMessages(language);
  const mean = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const isKnown = days.some(({ share_no }) => share_no !== null);
  const table = html`<details>
    <summary>${messages.table}</summary>
    <div class="scroll" role="region" tabindex="0" aria-label="${messages.mean}">
      <table>
        <caption class="soft">
          ${messages.mean}
        </caption>
        <thead>
          <tr>
            <th scope="col">${messages.day}</th>
            <th scope="col">${messages.share}</th>
            ${servedStatuses.map((status) => html`<th scope="col">${messages.statuses[status]}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${days.toReversed().map(
            ({ day, share_no, statuses }) =>
              html`<tr>
                <th scope="row">${dayName(day, language)}</th>
                <td>${percent(share_no, language)}</td>
                ${servedStatuses.map((status) => html`<td>${mean.format(statuses[status])}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
  return html`<h2>${messages.byDay(choice.days)}</h2>
    <nav aria-label="${messages.period}">
      ${periods.map((one) =>
        one === choice.days
          ? html`<b aria-current="true">${messages.days(one)}</b>`
          : html`<a href="${linkTo(choice, { days: one })}">${messages.days(one)}</a>`,
      )}
    </nav>
    <div class="card">${dayChart(days, language, messages)}${isKnown ? table : null}</div>`;
}
