import { plural } from "#src/contract/language.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { language, words } from "#web/widget/words.ts";

/** The map's words for the stations along a way. They are loaded when somebody asks for them. */
const en = {
  from: (isOwn: boolean): string =>
    isOwn ? "From where you are" : "From the middle of the last search",
  to: "Where to?",
  chooseCity: "Choose a city …",
  onMap: "Show the place on the map",
  placeOnMap: "the place on the map",
  aside: "How far aside",
  km: (km: number) => `${km} km`,
  straight: "Near the straight line: the map does not know the roads.",
  tooLong: (km: number) => `${km} km is too far. Choose a nearer place, up to 1,000 km.`,
  offline: "No network. Stations along a way can be looked for only with one.",
  found: (grade: Grade | null, count: number, km: number) =>
    `${count} ${count === 1 ? "station" : "stations"} with ${grade === null ? "fuel" : words.gradeName(grade)} on ${km} km`,
  none: (grade: Grade | null, km: number) =>
    `No station with ${grade === null ? "fuel" : words.gradeName(grade)} is known on these ${km} km. Try farther aside.`,
  /** `at`: "12 km" along the way, `off`: "800 m" aside. */
  beside: (at: string, off: string) => `after ${at}, ${off} aside`,
  first: (count: number) => `These are the first ${count}.`,
  other: "Another way",
};

const stations = plural("ru", { one: "станция", few: "станции", many: "станций" });

const ru: typeof en = {
  from: (isOwn) => (isOwn ? "Оттуда, где вы сейчас" : "От места последнего поиска"),
  to: "Куда?",
  chooseCity: "Выберите город …",
  onMap: "Показать место на карте",
  placeOnMap: "место на карте",
  aside: "Как далеко в сторону",
  km: (km) => `${km} км`,
  straight: "Возле прямой линии: дорог карта не знает.",
  tooLong: (km) => `${km} км — слишком далеко. Выберите место не дальше 1000 км.`,
  offline: "Нет сети. Искать станции по пути можно только с сетью.",
  found: (grade, count, km) =>
    `${count} ${stations(count)} ${grade === null ? "с топливом" : `с ${words.gradeName(grade)}`} на ${km} км`,
  none: (grade, km) =>
    `На этих ${km} км нет известных станций ${grade === null ? "с топливом" : `с ${words.gradeName(grade)}`}. Попробуйте дальше в сторону.`,
  beside: (at, off) => `через ${at}, ${off} в сторону`,
  first: (count) => `Это первые ${count}.`,
  other: "Другой путь",
};

export const alongWords = { en, ru }[language];
