import { type Language, plural, preferredLanguage } from "#src/contract/language.ts";
import type { Context } from "#api/http/route.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

export type { Language };

const stations = plural("ru", { one: "станция", few: "станции", many: "станций" });
const confirmed = plural("ru", { one: "подтвердил", few: "подтвердили", many: "подтвердили" });

/** The wire has diesel in Russian. */
const gradeName = (grade: string): string => (grade === "ДТ" ? "Diesel" : grade);

const en = {
  title: "Where is fuel?",
  siteName: "Fuel map",
  siteShortName: "Fuel map",
  loading: "Loading the map …",
  unstyled:
    "If only a plain list stays here, the frame around it keeps the map's own files out. Its attribute sandbox needs allow-scripts and allow-same-origin.",
  siteDescription:
    "Which filling stations have fuel now, as drivers say: grades, queues and prices.",
  stationsAt: (place: string) =>
    place === "" ? "Filling stations here" : `Filling stations: ${place}`,
  gradeName,
  nearest: (grade: Grade | null, city: string) =>
    `Nearest with ${grade === null ? "fuel" : gradeName(grade)}${city === "" ? "" : `: ${city}`}`,
  nobodyHas: (grade: Grade | null) =>
    `No station with ${grade === null ? "fuel" : gradeName(grade)} is known here.`,
  whichFuel: "Which fuel?",
  nearMe: "Near me",
  whereAreYou: "Where are you looking for fuel?",
  hasFuel: "has fuel",
  isLikely: "likely has fuel",
  next: "Next",
  before: "Back",
  toMap: "To the map",
  wholeList: "All stations as a plain list",
  stationGone: "This station is not on the map",
  route: "Route",
  city: "City",
  fuel: "Fuel",
  anyFuel: "any",
  status: "Status",
  anyStatus: "any",
  show: "Show",
  statuses: { yes: "Fuel", low: "Little fuel", no: "No fuel", queue: "Queue", nodata: "No data" },
  found: (count: number, from: number, to: number) =>
    `${count} ${count === 1 ? "station" : "stations"}${to - from + 1 < count ? `, by distance ${from} to ${to}` : ""}`,
  have: (have: number, of: number, grade: string) => `${have} of ${of} have ${gradeName(grade)}`,
  none: "No stations match. Choose another fuel or status.",
  cityUnknown: (name: string, shown: string) =>
    `There is no city called “${name}”. These are the stations of ${shown}.`,
  noCities: "There is no list of cities yet. The map shows all stations.",
  available: "Has",
  missing: "Out of",
  closedNow: "Closed now",
  queue: (cars: string) => `queue ${cars} cars`,
  limit: (litres: number) => `at most ${litres} l`,
  noCash: "no cash",
  cardsOnly: "fuel cards only",
  confirmed: (count: number) => `confirmed by ${count}`,
  imported: "imported, not from drivers",
  pending: (status: string, count: number) => `Unconfirmed: ${status} (${count})`,
  conflict: "Drivers disagree",
  ago: (minutes: number) =>
    minutes < 1
      ? "just now"
      : minutes < 60
        ? `${minutes} min ago`
        : `${Math.floor(minutes / 60)} h ago`,
  noMap: {
    "no-key": {
      title: "The map needs a key",
      what: "The address of this frame has no “key” parameter. Put in the publishable key (pk_live_…) that the operator gave you.",
    },
    "invalid-key": {
      title: "This key is not valid",
      what: "It is mistyped, has been revoked or has expired. Check the “key” parameter, or ask the operator for a new publishable key.",
    },
    "secret-key": {
      title: "This is a secret key",
      what: "A secret key (svc_live_…) belongs on a server and never in a page. Everyone who has seen this page can use it: have it revoked, and put in a publishable key (pk_live_…).",
    },
    "domain-not-allowed": {
      title: "The map is not for this website",
      what: "Its key is bound to other domains. The operator can add this one.",
    },
    "partner-disabled": {
      title: "The map is switched off",
      what: "Access with this key is switched off. The operator can switch it on again.",
    },
    unavailable: {
      title: "The map is not available just now",
      what: "Try again in a few seconds.",
    },
  },
};

/** The texts of the list page, and of the page that stands in for a map. */
export type Messages = typeof en;

const ru: Messages = {
  title: "Где есть топливо?",
  siteName: "Карта топлива",
  siteShortName: "Топливо",
  loading: "Загружаем карту …",
  unstyled:
    "Если здесь остался простой список, рамка вокруг не пускает файлы самой карты. Её атрибуту sandbox нужны allow-scripts и allow-same-origin.",
  siteDescription:
    "На каких заправках сейчас есть топливо: марки, очереди и цены со слов водителей.",
  stationsAt: (place) => (place === "" ? "Заправки рядом" : `Заправки: ${place}`),
  gradeName: (grade) => grade,
  nearest: (grade, city) =>
    `${grade === null ? "Ближайшие с топливом" : `Ближайшие с ${grade}`}${city === "" ? "" : `: ${city}`}`,
  nobodyHas: (grade) => `Здесь нет известных станций с ${grade ?? "топливом"}.`,
  whichFuel: "Какое топливо?",
  nearMe: "Рядом со мной",
  whereAreYou: "Где ищете топливо?",
  hasFuel: "топливо есть",
  isLikely: "скорее всего есть",
  next: "Дальше",
  before: "Назад",
  toMap: "К карте",
  wholeList: "Все станции простым списком",
  stationGone: "Этой станции нет на карте",
  route: "Маршрут",
  city: "Город",
  fuel: "Топливо",
  anyFuel: "любое",
  status: "Статус",
  anyStatus: "любой",
  show: "Показать",
  statuses: { yes: "Есть", low: "Мало", no: "Нет", queue: "Очередь", nodata: "Нет данных" },
  found: (count, from, to) =>
    `${count} ${stations(count)}${to - from + 1 < count ? `, по удалённости с ${from} по ${to}` : ""}`,
  have: (have, of, grade) => `${grade} есть на ${have} из ${of}`,
  none: "Ничего не найдено. Выберите другое топливо или статус.",
  cityUnknown: (name, shown) => `Города «${name}» нет в списке. Показаны станции: ${shown}.`,
  noCities: "Списка городов пока нет. Все станции есть на карте.",
  available: "Есть",
  missing: "Нет",
  closedNow: "Сейчас закрыто",
  queue: (cars) => `очередь ${cars} машин`,
  limit: (litres) => `не больше ${litres} л`,
  noCash: "без наличных",
  cardsOnly: "только топливные карты",
  confirmed: (count) => `${confirmed(count)} ${count}`,
  imported: "импорт, не от водителей",
  pending: (status, count) => `Не подтверждено: ${status} (${count})`,
  conflict: "Водители расходятся",
  ago: (minutes) =>
    minutes < 1
      ? "только что"
      : minutes < 60
        ? `${minutes} мин назад`
        : `${Math.floor(minutes / 60)} ч назад`,
  noMap: {
    "no-key": {
      title: "Карте нужен ключ",
      what: "В адресе этой рамки нет параметра «key». Укажите публичный ключ (pk_live_…), который выдал оператор.",
    },
    "invalid-key": {
      title: "Ключ недействителен",
      what: "В нём опечатка, он отозван или истёк. Проверьте параметр «key» или попросите у оператора новый публичный ключ.",
    },
    "secret-key": {
      title: "Это секретный ключ",
      what: "Секретный ключ (svc_live_…) хранят на сервере и не показывают на страницах. Его мог скопировать каждый, кто видел эту страницу: отзовите его и укажите публичный ключ (pk_live_…).",
    },
    "domain-not-allowed": {
      title: "Карта не для этого сайта",
      what: "Её ключ привязан к другим доменам. Оператор может добавить этот.",
    },
    "partner-disabled": {
      title: "Карта выключена",
      what: "Доступ по этому ключу выключен. Оператор может включить его снова.",
    },
    unavailable: {
      title: "Карта сейчас недоступна",
      what: "Попробуйте ещё раз через несколько секунд.",
    },
  },
};

const messages: Record<Language, Messages> = { en, ru };

/** Russian when the browser prefers it to English, else English; `lang` in the URL wins. */
export const pickLanguage = (lang: string | null, accepted = ""): Language =>
  lang === "ru" || lang === "en"
    ? lang
    : preferredLanguage(accepted.split(",").map((part) => part.trim()));

/** What a device has chosen on the operator's own map, from its cookie (decisions 15.43). */
export const keptStart = (ctx: Context): URLSearchParams =>
  new URLSearchParams(/(?:^|; )start=([^;]*)/.exec(ctx.get("cookie"))?.[1] ?? "");

/** The language of a page: that of its address, else the device's, else the browser's. `Vary` names the last two. */
export const languageOf = (ctx: Context): Language =>
  pickLanguage(
    new URLSearchParams(ctx.querystring).get("lang") ?? keptStart(ctx).get("lang"),
    ctx.get("accept-language"),
  );
export const languageVary = "Accept-Language, Cookie";

export const messagesOf = (language: Language): Messages => messages[language];
