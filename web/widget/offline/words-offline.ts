import { type Language, plural } from "#src/contract/language.ts";
import { language } from "#web/widget/words.ts";

interface Counted {
  waiting: (count: number) => string;
  notTaken: (count: number) => string;
}

/** The map's words for a time without a network; both languages have all of them. */
interface OfflineWords {
  offlineSince: (ago: string) => string;
  waits: string;
  kept: string;
  arrived: (station: string, became: string) => string;
  suggestionWaits: string;
  suggestionArrived: (about: string) => string;
  suggested: (about: string) => string;
  tooOld: string;
  marks: Counted;
  suggestions: Counted;
  said: (station: string, status: string, ago: string) => string;
  drop: string;
  dropOne: (about: string) => string;
  understood: string;
}

const english = (what: string): Counted => ({
  waiting: (count) => `${count} ${what}${count === 1 ? " waits" : "s wait"} for the network`,
  notTaken: (count) => `${count} ${what}${count === 1 ? " was" : "s were"} not taken`,
});

const marksWait = plural("ru", { one: "отметка ждёт", few: "отметки ждут", many: "отметок ждут" });
const marksRefused = plural("ru", {
  ...{ one: "отметка не принята", few: "отметки не приняты", many: "отметок не принято" },
});
const suggestionsWait = plural("ru", {
  ...{ one: "сообщение о станции ждёт", few: "сообщения о станциях ждут" },
  many: "сообщений о станциях ждут",
});
const suggestionsRefused = plural("ru", {
  one: "сообщение о станции не принято",
  few: "сообщения о станциях не приняты",
  many: "сообщений о станциях не принято",
});

const all: Record<Language, OfflineWords> = {
  en: {
    offlineSince: (ago) => `You are offline. Last update: ${ago}.`,
    waits: "No network. Your mark is kept on this device and goes out by itself, with its time.",
    kept: "Your mark is kept on this device and goes out by itself, with its time.",
    suggestionWaits: "It is kept on this device and goes out by itself.",
    suggestionArrived: (about) => `${about}: your suggestion has arrived.`,
    suggested: (about) => `${about}: your suggestion`,
    arrived: (station, became) => `${station}: your mark has arrived. ${became}`,
    tooOld: "Older than 24 hours: it does not count any more.",
    marks: english("mark"),
    suggestions: english("suggestion"),
    said: (station, status, ago) => `${station}: ${status}, ${ago}`,
    drop: "Do not send",
    dropOne: (about) => `Do not send: ${about}`,
    understood: "OK",
  },
  ru: {
    offlineSince: (ago) => `Нет сети. Последнее обновление: ${ago}.`,
    waits: "Нет сети. Отметка сохранена на устройстве и отправится сама, со своим временем.",
    kept: "Отметка сохранена на устройстве и отправится сама, со своим временем.",
    suggestionWaits: "Сообщение сохранено на устройстве и отправится само.",
    suggestionArrived: (about) => `${about}: сообщение доставлено.`,
    suggested: (about) => `${about}: сообщение о станции`,
    arrived: (station, became) => `${station}: ваша отметка доставлена. ${became}`,
    tooOld: "Старше 24 часов: она уже не учитывается.",
    marks: {
      waiting: (count) => `${count} ${marksWait(count)} сети`,
      notTaken: (count) => `${count} ${marksRefused(count)}`,
    },
    suggestions: {
      waiting: (count) => `${count} ${suggestionsWait(count)} сети`,
      notTaken: (count) => `${count} ${suggestionsRefused(count)}`,
    },
    said: (station, status, ago) => `${station}: ${status}, ${ago}`,
    drop: "Не отправлять",
    dropOne: (about) => `Не отправлять: ${about}`,
    understood: "Понятно",
  },
};

export const offlineWords = all[language];
