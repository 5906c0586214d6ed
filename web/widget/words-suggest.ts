import type { SuggestionKind } from "#src/domain/suggestion.ts";
import { language } from "#web/widget/words.ts";

/** The map's words for what is wrong with a station itself. They are loaded when somebody says it. */
const en = {
  title: "What is wrong?",
  kinds: {
    gone: "There is no station here any more",
    closed: "It is closed for good",
    moved: "It stands elsewhere",
    missing: "A station is missing on the map",
  } satisfies Record<SuggestionKind, string>,
  what: "What is wrong with this station",
  where: "Where it really stands",
  whereMissing: "Where it stands",
  own: "Where I am",
  onMap: "Show it on the map",
  /** `away`: "120 m". */
  chosen: (away: string) => `Place chosen, ${away} from where the map shows it.`,
  chosenNew: "Place chosen.",
  needsPlace: "Say first where it stands.",
  moveMap: "Move the map until the pin is on the place.",
  here: "Here",
  cancel: "Cancel",
  text: "In a few words",
  textHint: "may be left out; no names or numbers",
  goesTo: "The operator of this map reads it and decides. The map does not change by itself.",
  send: "Send",
  thanks: "Thank you. The operator will look at it.",
  enough: "That is enough for today. Try again tomorrow.",
  failed: "That did not work. Try again later.",
};

const ru: typeof en = {
  title: "Что не так?",
  kinds: {
    gone: "Станции здесь больше нет",
    closed: "Она закрыта насовсем",
    moved: "Она стоит в другом месте",
    missing: "Станции нет на карте",
  },
  what: "Что не так с этой станцией",
  where: "Где она на самом деле",
  whereMissing: "Где она стоит",
  own: "Там, где я сейчас",
  onMap: "Показать на карте",
  chosen: (away) => `Место выбрано: ${away} от того, что на карте.`,
  chosenNew: "Место выбрано.",
  needsPlace: "Сначала укажите, где она стоит.",
  moveMap: "Двигайте карту, пока булавка не окажется на месте.",
  here: "Здесь",
  cancel: "Отмена",
  text: "В двух словах",
  textHint: "можно не писать; без имён и телефонов",
  goesTo: "Сообщение прочитает оператор карты и решит сам. Карта сама не изменится.",
  send: "Отправить",
  thanks: "Спасибо! Оператор проверит.",
  enough: "На сегодня достаточно. Попробуйте завтра.",
  failed: "Не получилось. Попробуйте позже.",
};

export const suggestWords = { en, ru }[language];
