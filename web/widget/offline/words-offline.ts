import { type Language, plural } from "#src/contract/language.ts";
import { language } from "#web/widget/words.ts";

/** The map's words for a time without a network; both languages have all of them. */
interface OfflineWords {
  offlineSince: (ago: string) => string;
  waits: string;
  waitsForService: string;
  arrived: (station: string, became: string) => string;
  suggestionWaits: string;
  suggestionArrived: (about: string) => string;
  suggested: (about: string) => string;
  tooOld: string;
  waiting: (count: number) => string;
  notTaken: (count: number) => string;
  said: (station: string, status: string, ago: string) => string;
  drop: string;
  dropOne: (station: string) => string;
  understood: string;
}

const marks = (count: number): string => (count === 1 ? "mark waits" : "marks wait");

const wait = plural("ru", { one: "отметка ждёт", few: "отметки ждут", many: "отметок ждут" });
const refused = plural("ru", {
  ...{ one: "отметка не принята", few: "отметки не приняты", many: "отметок не принято" },
});

const all: Record<Language, OfflineWords> = {
  en: {
    offlineSince: (ago) => `You are offline. Last update: ${ago}.`,
    waits: "No network. Your mark is kept on this device and goes out by itself, with its time.",
    waitsForService:
      "The service does not answer just now. Your mark is kept on this device and goes out by itself, with its time.",
    suggestionWaits: "No network. It is kept on this device and goes out by itself.",
    suggestionArrived: (about) => `${about}: what you said has arrived.`,
    suggested: (about) => `${about}: what you said of the station`,
    arrived: (station, became) => `${station}: your mark has arrived. ${became}`,
    tooOld: "Older than 24 hours: it does not count any more.",
    waiting: (count) => `${count} ${marks(count)} for the network`,
    notTaken: (count) => `${count} ${count === 1 ? "mark was" : "marks were"} not taken`,
    said: (station, status, ago) => `${station}: ${status}, ${ago}`,
    drop: "Do not send",
    dropOne: (station) => `Do not send the mark of ${station}`,
    understood: "OK",
  },
  ru: {
    offlineSince: (ago) => `Нет сети. Последнее обновление: ${ago}.`,
    waits: "Нет сети. Отметка сохранена на устройстве и отправится сама, со своим временем.",
    waitsForService:
      "Сервис сейчас не отвечает. Отметка сохранена на устройстве и отправится сама, со своим временем.",
    suggestionWaits: "Нет сети. Сообщение сохранено на устройстве и отправится само.",
    suggestionArrived: (about) => `${about}: сообщение доставлено.`,
    suggested: (about) => `${about}: сообщение о станции`,
    arrived: (station, became) => `${station}: ваша отметка доставлена. ${became}`,
    tooOld: "Старше 24 часов: она уже не учитывается.",
    waiting: (count) => `${count} ${wait(count)} сети`,
    notTaken: (count) => `${count} ${refused(count)}`,
    said: (station, status, ago) => `${station}: ${status}, ${ago}`,
    drop: "Не отправлять",
    dropOne: (station) => `Не отправлять отметку: ${station}`,
    understood: "Понятно",
  },
};

export const offlineWords = all[language];
