import { language } from "#web/kit/words.ts";

const whole = new Intl.NumberFormat(language);
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const tenth = new Intl.NumberFormat(language, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** `1,234,567` */
export const number = (value: number): string => whole.format(value);

/** `1.2M`, for axes. */
export const shortNumber = (value: number): string => short.format(value);

/** `12.5` */
export const tenths = (value: number): string => tenth.format(value);

/** `12.5 %` of `all`; a dash when there is nothing to share. */
export function share(part: number, all: number): string {
  if (all === 0) return "–";
  const percent = (100 * part) / all;
  if (part > 0 && percent < 0.1) return `< ${tenths(0.1)} %`;
  return `${percent < 10 && part > 0 ? tenths(percent) : number(Math.round(percent))} %`;
}
