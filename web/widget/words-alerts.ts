import type { Grade } from "#src/domain/vocabulary.ts";
import type { NotAsked } from "#web/widget/alerts.ts";
import { language } from "#web/widget/words.ts";

/** The map's words for notifications. They are loaded apart from the others, when a driver looks for fuel. */
interface AlertWords {
  title: (grade: Grade) => string;
  radius: string;
  km: (km: number) => string;
  ask: string;
  asking: string;
  asked: string;
  terms: (perDay: number, days: number) => string;
  mine: string;
  one: (grade: Grade, km: number) => string;
  until: (day: string) => string;
  stop: string;
  stopOne: (what: string) => string;
  notStopped: string;
  refusals: Record<NotAsked, string>;
}

const en: AlertWords = {
  title: (grade) => `Tell me when there is ${grade === "ДТ" ? "diesel" : grade}`,
  radius: "Within",
  km: (km) => `${km} km`,
  ask: "Tell me",
  asking: "Asking …",
  asked: "You will get a notification.",
  terms: (perDay, days) =>
    `At most ${perDay} notifications a day, none at night, for ${days} days. One tap stops it.`,
  mine: "You will be told of",
  one: (grade, km) => `${grade === "ДТ" ? "diesel" : grade} within ${km} km`,
  until: (day) => `until ${day}`,
  stop: "Stop",
  stopOne: (what) => `Stop: ${what}`,
  notStopped: "The service does not answer just now. Try again.",
  refusals: {
    forbidden: "This page may not show notifications. Allow it in the browser’s settings.",
    full: "You wait for as much as possible. Stop one first.",
    unavailable: "That did not work just now. Try again later.",
  },
};

const ru: AlertWords = {
  title: (grade) => `Сообщить, когда появится ${grade}`,
  radius: "В пределах",
  km: (km) => `${km} км`,
  ask: "Сообщить мне",
  asking: "Запрашиваем …",
  asked: "Вы получите уведомление.",
  terms: (perDay, days) =>
    `Не больше ${perDay} уведомлений в день, не ночью, в течение ${days} дней. Отключается одним нажатием.`,
  mine: "Вам сообщат",
  one: (grade, km) => `${grade} в пределах ${km} км`,
  until: (day) => `до ${day}`,
  stop: "Отключить",
  stopOne: (what) => `Отключить: ${what}`,
  notStopped: "Сервис сейчас не отвечает. Попробуйте ещё раз.",
  refusals: {
    forbidden: "Этой странице нельзя показывать уведомления. Разрешите это в настройках браузера.",
    full: "Больше ожиданий добавить нельзя. Сначала отключите одно.",
    unavailable: "Сейчас не получилось. Попробуйте позже.",
  },
};

export const alertWords = { en, ru }[language];
