import { html, type Html } from "#api/pages/html.ts";
import { dayChart, dayName, percent, shareBar, numberText } from "#api/pages/overview-charts.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import { type Choice, linkTo, measures, periods, shareOf } from "#api/pages/overview-table.ts";
import type { Figures } from "#snapshots/insights/figures.ts";
import { grades, servedStatuses } from "#src/domain/vocabulary.ts";

/** The shares without each grade, and without any fuel, now. */
export function tiles(
  { statuses, stations, share_no, grades: byGrade }: Figures,
  choice: Choice,
): Html {
  const messages = overviewMessages(choice.language);
  const tile = (name: string, out: number, known: number, share: number | null): Html => {
    const [some, all] = [out, known].map((one) => numberText(one, choice.language));
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

/** The share without any fuel, or without a grade, by day: as bars and as a table. */
export function daySection({ days }: Figures, choice: Choice): Html {
  const { language } = choice;
  const messages = overviewMessages(language);
  const shares = days.map((one) => ({ ...one, share: shareOf(choice)(one) }));
  const isKnown = shares.some(({ share }) => share !== null);
  const nameOf = (of: Choice["of"]): string =>
    of === "no" ? messages.noFuel : messages.withoutGrade(of);
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
            <th scope="col">${nameOf(choice.of)}</th>
            ${servedStatuses.map((status) => html`<th scope="col">${messages.statuses[status]}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${shares.toReversed().map(
            ({ day, share, statuses }) =>
              html`<tr>
                <th scope="row">${dayName(day, language)}</th>
                <td>${percent(share, language)}</td>
                ${servedStatuses.map((status) => html`<td>${numberText(statuses[status], language)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
  const chosen = (text: string, isChosen: boolean, change: Partial<Choice>): Html =>
    isChosen
      ? html`<b aria-current="true">${text}</b>`
      : html`<a href="${linkTo(choice, change)}">${text}</a>`;
  return html`<h2>${messages.byDay(nameOf(choice.of), choice.days)}</h2>
    <nav aria-label="${messages.measure}">
      ${measures.map((of) => chosen(of === "no" ? messages.anyFuel : of, of === choice.of, { of }))}
    </nav>
    <nav aria-label="${messages.period}">
      ${periods.map((one) => chosen(messages.days(one), one === choice.days, { days: one }))}
    </nav>
    <div class="card">${dayChart(shares, language, messages)}${isKnown ? table : null}</div>`;
}
