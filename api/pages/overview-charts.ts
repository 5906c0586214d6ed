import { html, type Html } from "#api/pages/html.ts";
import type { Language } from "#api/pages/messages.ts";
import type { OverviewMessages } from "#api/pages/overview-messages.ts";
import { remembered } from "#src/infrastructure/lists.ts";

/** Formatters are made once, and so is what they make: a page of 50 cities has 3000 figures, most of them alike. */
function formatsOf(language: Language) {
  const percents = new Intl.NumberFormat(language, { style: "percent" });
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const days = new Intl.DateTimeFormat(language === "en" ? "en-GB" : "ru", {
    ...{ day: "numeric", month: "short", timeZone: "UTC" },
  });
  return {
    percent: remembered((share: number) => percents.format(share)),
    number: remembered((count: number) => numbers.format(count)),
    day: remembered((day: string) => days.format(new Date(`${day}T00:00:00Z`))),
    names: new Intl.Collator(language),
  };
}
export const formats = { ru: formatsOf("ru"), en: formatsOf("en") };

/** `12 %`, `<1 %` instead of a rounded 0; a dash for null. */
export function percent(share: number | null, language: Language): string {
  if (share === null) return "–";
  const format = formats[language].percent;
  return share > 0 && share < 0.005 ? `<${format(0.01)}` : format(share);
}

/** A number with at most one decimal. */
export const numberText = (count: number, language: Language): string =>
  formats[language].number(count);

/** `30 Jan` of `2026-01-30`. */
export const dayName = (day: string, language: Language): string => formats[language].day(day);

/** A bar of that part of the width. The figure stands beside it as text. */
export const shareBar = remembered(
  (share: number | null): Html =>
    html`<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" />
      <rect width="${((share ?? 0) * 100).toFixed(1)}" height="6" />
    </svg>`,
);

const [wide, high] = [4, 24];
const topOf = remembered((share: number) => (high - 1 - share * (high - 1)).toFixed(1));

/** Days as small bars: one path, because a page has a hundred of them. */
export function sparkline(shares: readonly (number | null)[], language: Language): Html {
  const known = shares.filter((share) => share !== null);
  let path = "";
  for (const [n, share] of shares.entries())
    if (share !== null) path += `M${n * wide + 2} ${high}V${topOf(share)}`;
  const text =
    known.length === 0
      ? "–"
      : `${percent(known[0]!, language)} → ${percent(known.at(-1)!, language)}`;
  return html`<svg
    class="spark"
    role="img"
    aria-label="${text}"
    viewBox="0 0 ${shares.length * wide} ${high}"
    preserveAspectRatio="none"
  >
    <path class="track" d="M0 ${high - 0.5}H${shares.length * wide}" />
    <path d="${path}" />
  </svg>`;
}

const [width, height, left, top, bottom] = [720, 200, 84, 12, 34];

/** A share by day, from 0 to 100 %: a day without data has a mark instead of a bar. */
export function dayChart(
  days: readonly { day: string; share: number | null }[],
  language: Language,
  messages: OverviewMessages,
): Html {
  const known = days.flatMap(({ share }) => share ?? []);
  if (known.length === 0) return html`<p class="soft">${messages.noDays}</p>`;
  const step = (width - left) / days.length;
  const y = (share: number): number => top + (height - top - bottom) * (1 - share);
  const every = Math.ceil(days.length / 6);
  const [from, to] = [days[0]!, days.at(-1)!].map(({ day }) => dayName(day, language));
  const [least, most] = [Math.min(...known), Math.max(...known)].map((one) =>
    percent(one, language),
  );
  return html`<svg
    class="chart"
    role="img"
    viewBox="0 0 ${width} ${height}"
    aria-label="${messages.chart(from!, to!, least!, most!)}"
  >
    ${[0, 0.5, 1].map(
      (tick) =>
        html`<line x1="${left}" x2="${width}" y1="${y(tick)}" y2="${y(tick)}" /><text
            x="${left - 6}"
            y="${y(tick) + 4}"
            text-anchor="end"
            >${percent(tick, language)}</text
          >`,
    )}
    ${days.map(({ day, share }, n) => {
      const x = left + n * step;
      const middle = x + step / 2;
      const name =
        n % every === 0
          ? html`<text x="${middle.toFixed(1)}" y="${height - 6}" text-anchor="middle"
              >${dayName(day, language)}</text
            >`
          : null;
      const bar =
        share === null
          ? html`<text class="gap" x="${middle.toFixed(1)}" y="${y(0) - 3}" text-anchor="middle"
              >·</text
            >`
          : html`<rect
              x="${(x + step * 0.12).toFixed(1)}"
              width="${(step * 0.76).toFixed(1)}"
              y="${(y(share) - 1).toFixed(1)}"
              height="${(y(0) - y(share) + 1).toFixed(1)}"
              ><title>${dayName(day, language)}: ${percent(share, language)}</title></rect
            >`;
      return html`${bar}${name}`;
    })}
  </svg>`;
}
