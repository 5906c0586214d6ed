import type { Language } from "#api/pages/messages.ts";

const en = {
  title: "Where fuel is missing",
  titleOf: (city: string) => `Where fuel is missing: ${city}`,
  lead: (stations: string, known: string) =>
    `${stations} filling stations. ${known} of them have fresh marks of drivers or imported data; shares are among those of which it is known.`,
  now: "Now",
  of: (out: string, known: string) => `${out} of ${known}`,
  unknown: "no data",
  noFuel: "No fuel at all",
  withoutGrade: (grade: string) => `Without ${grade}`,
  byDay: (what: string, days: number) => `${what}, ${days} days`,
  measure: "What is missing",
  anyFuel: "Any",
  chart: (from: string, to: string, least: string, most: string) =>
    `Bars, a day each, from ${from} to ${to}: from ${least} to ${most} of the stations with data. The table of days has each figure.`,
  noDays: "No data about these days yet.",
  table: "Days as a table",
  day: "Day",
  soFar: "so far",
  share: "Without fuel",
  stations: "Stations",
  known: "With data",
  mean: "Stations, on average over the day",
  cities: "Cities",
  city: "City",
  country: "Whole country",
  elsewhere: "A station belongs to the nearest city within 25 km.",
  trend: "By day",
  sortBy: "Sort by",
  shown: (from: number, to: number, of: number) => `Cities ${from} to ${to} of ${of}.`,
  none: "No city has stations yet. The operator imports stations and cities.",
  cityUnknown: (name: string) => `There is no city called “${name}”. This is the whole country.`,
  notYet: "The figures are being counted: open this page again in a minute.",
  asOf: (time: string) => `As of ${time} UTC. Counted once a minute.`,
  period: "Period",
  days: (days: number) => `${days} days`,
  list: "Stations as a list",
  map: "Map",
  statuses: { yes: "Fuel", low: "Little fuel", no: "No fuel", queue: "Queue", nodata: "No data" },
};

export type OverviewMessages = typeof en;

const ru: OverviewMessages = {
  title: "Где не хватает топлива",
  titleOf: (city) => `Где не хватает топлива: ${city}`,
  lead: (stations, known) =>
    `Заправок: ${stations}. Свежие отметки водителей или загруженные данные есть о ${known}; доли — среди тех, о которых известно.`,
  now: "Сейчас",
  of: (out, known) => `${out} из ${known}`,
  unknown: "нет данных",
  noFuel: "Топлива нет совсем",
  withoutGrade: (grade) => `Без ${grade}`,
  byDay: (what, days) => `${what}, за ${days} дней`,
  measure: "Чего нет",
  anyFuel: "Любое",
  chart: (from, to, least, most) =>
    `Столбцы по дням с ${from} по ${to}: от ${least} до ${most} заправок с данными. Все значения — в таблице дней.`,
  noDays: "Данных об этих днях пока нет.",
  table: "Дни таблицей",
  day: "День",
  soFar: "пока",
  share: "Без топлива",
  stations: "Заправки",
  known: "С данными",
  mean: "Заправки, в среднем за день",
  cities: "Города",
  city: "Город",
  country: "Вся страна",
  elsewhere: "Заправка относится к ближайшему городу в пределах 25 км.",
  trend: "По дням",
  sortBy: "Сортировать",
  shown: (from, to, of) => `Города ${from}–${to} из ${of}.`,
  none: "Пока ни в одном городе нет заправок. Оператор загружает станции и города.",
  cityUnknown: (name) => `Города «${name}» нет в списке. Показана вся страна.`,
  notYet: "Данные подсчитываются: откройте страницу через минуту.",
  asOf: (time) => `На ${time} UTC. Подсчёт раз в минуту.`,
  period: "Период",
  days: (days) => `${days} дней`,
  list: "Станции списком",
  map: "Карта",
  statuses: { yes: "Есть", low: "Мало", no: "Нет", queue: "Очередь", nodata: "Нет данных" },
};

const messages: Record<Language, OverviewMessages> = { en, ru };

export const overviewMessages = (language: Language): OverviewMessages => messages[language];
