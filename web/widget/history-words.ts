import { language, locale } from "#web/widget/words.ts";

/** `Sat, 14:05`, in the viewer's time. */
const moment = (at: number): string =>
  new Intl.DateTimeFormat(locale, {
    ...{ weekday: "short", hour: "2-digit", minute: "2-digit" },
  }).format(at);

interface Usual {
  part: 0 | 1 | 2 | 3;
  times: number;
  of: number;
}

const en = {
  title: "Last 48 hours",
  span: (status: string, from: number, to: number) => `${status}: ${moment(from)} – ${moment(to)}`,
  ago: (hours: number) => `${hours} h ago`,
  now: "now",
  refilled: ({ part, times, of }: Usual, days: number) =>
    `Usually refilled ${["at night", "in the morning", "in the afternoon", "in the evening"][part]}: ${times} of ${of} times in ${days} days.`,
  asText: "As text",
};

const ru: typeof en = {
  title: "Последние 48 часов",
  span: (status, from, to) => `${status}: ${moment(from)} – ${moment(to)}`,
  ago: (hours) => `${hours} ч назад`,
  now: "сейчас",
  refilled: ({ part, times, of }, days) =>
    `Обычно топливо появляется ${["ночью", "утром", "днём", "вечером"][part]}: ${times} из ${of} раз за ${days} дней.`,
  asText: "Текстом",
};

/** The words of the strip; they come with it, not with the page. */
export const historyWords = language === "ru" ? ru : en;
