import type { ServedStatus } from "#src/domain/vocabulary.ts";

export type Language = "en" | "ru";

/** The list page's words. */
export interface Messages {
  title: string;
  city: string;
  fuel: string;
  anyFuel: string;
  status: string;
  anyStatus: string;
  show: string;
  statuses: Record<ServedStatus, string>;
  found: (count: number, shown: number) => string;
  none: string;
  noCities: string;
  available: string;
  missing: string;
  queue: (cars: string) => string;
  limit: (litres: number) => string;
  noCash: string;
  cardsOnly: string;
  confirmed: (count: number) => string;
  imported: string;
  pending: (status: string, count: number) => string;
  conflict: string;
  ago: (minutes: number) => string;
  attribution: string;
}

const plural = (count: number, one: string, few: string, many: string): string => {
  const [tens, units] = [count % 100, count % 10];
  if (tens > 10 && tens < 20) return many;
  return units === 1 ? one : units > 1 && units < 5 ? few : many;
};

const en: Messages = {
  title: "Where is fuel?",
  city: "City",
  fuel: "Fuel",
  anyFuel: "any",
  status: "Status",
  anyStatus: "any",
  show: "Show",
  statuses: { yes: "Fuel", low: "Little fuel", no: "No fuel", queue: "Queue", nodata: "No data" },
  found: (count, shown) =>
    `${count} ${count === 1 ? "station" : "stations"}${shown < count ? `, the nearest ${shown} shown` : ""}`,
  none: "No stations match. Choose another fuel or status.",
  noCities: "No cities yet. The operator imports them with “cities import”.",
  available: "Has",
  missing: "Out of",
  queue: (cars) => `queue ${cars} cars`,
  limit: (litres) => `at most ${litres} l`,
  noCash: "no cash",
  cardsOnly: "fuel cards only",
  confirmed: (count) => `confirmed by ${count}`,
  imported: "imported, not from drivers",
  pending: (status, count) => `Unconfirmed: ${status} (${count})`,
  conflict: "Drivers disagree",
  ago: (minutes) =>
    minutes < 1
      ? "just now"
      : minutes < 60
        ? `${minutes} min ago`
        : `${Math.floor(minutes / 60)} h ago`,
  attribution: "Stations and map data © OpenStreetMap contributors where imported from there",
};

const ru: Messages = {
  title: "Где есть топливо?",
  city: "Город",
  fuel: "Топливо",
  anyFuel: "любое",
  status: "Статус",
  anyStatus: "любой",
  show: "Показать",
  statuses: { yes: "Есть", low: "Мало", no: "Нет", queue: "Очередь", nodata: "Нет данных" },
  found: (count, shown) =>
    `${count} ${plural(count, "станция", "станции", "станций")}${shown < count ? `, показаны ближайшие ${shown}` : ""}`,
  none: "Ничего не найдено. Выберите другое топливо или статус.",
  noCities: "Городов пока нет. Оператор загружает их командой «cities import».",
  available: "Есть",
  missing: "Нет",
  queue: (cars) => `очередь ${cars} машин`,
  limit: (litres) => `не больше ${litres} л`,
  noCash: "без наличных",
  cardsOnly: "только топливные карты",
  confirmed: (count) => `${plural(count, "подтвердил", "подтвердили", "подтвердили")} ${count}`,
  imported: "импорт, не от водителей",
  pending: (status, count) => `Не подтверждено: ${status} (${count})`,
  conflict: "Водители расходятся",
  ago: (minutes) =>
    minutes < 1
      ? "только что"
      : minutes < 60
        ? `${minutes} мин назад`
        : `${Math.floor(minutes / 60)} ч назад`,
  attribution: "Станции и карта © участники OpenStreetMap, если загружены оттуда",
};

const words: Record<Language, Messages> = { en, ru };

/** Russian when the browser prefers it to English, else English; `lang` in the URL wins. */
export function pickLanguage(lang: string | null, acceptLanguage: string | undefined): Language {
  if (lang === "ru" || lang === "en") return lang;
  const preferred = (acceptLanguage ?? "")
    .split(",")
    .map((part) => part.trim().slice(0, 2).toLowerCase())
    .find((name) => name === "ru" || name === "en");
  return preferred === "ru" ? "ru" : "en";
}

export const messagesOf = (language: Language): Messages => words[language];
