import type { Grade } from "#src/domain/vocabulary.ts";
import type { NotAsked } from "#web/widget/alerts.ts";
import { language } from "#web/widget/words.ts";

/** The map's words for notifications. They are loaded apart from the others, when a driver looks for fuel. */
const en = {
  title: (grade: Grade) => `Tell me when there is ${grade === "ДТ" ? "diesel" : grade}`,
  radius: "Within",
  km: (km: number) => (km < 1 ? "this station" : `${km} km`),
  ask: "Tell me",
  asking: "Asking …",
  asked: "You will get a notification.",
  terms: (perDay: number, days: number) =>
    `At most ${perDay} notifications a day, none at night, for ${days} days. One tap stops it.`,
  /** For iPhones whose browser tells only from the home screen. */
  homeScreen:
    "An iPhone tells only from the home screen: in Safari press Share, then “Add to Home Screen”, and open the map from there.",
  chooseFuel: "Choose the fuel that you want to be told of.",
  mine: "You will be told of",
  onlyLikely: "Only when it is likely there (70% or more)",
  one: (grade: Grade, km: number, likely: boolean) =>
    `${grade === "ДТ" ? "diesel" : grade} ${km < 1 ? "at one station" : `within ${km} km`}${likely ? ", when likely" : ""}`,
  until: (day: string) => `until ${day}`,
  stop: "Stop",
  stopOne: (what: string) => `Stop: ${what}`,
  notStopped: "The service does not answer just now. Try again.",
  refusals: {
    forbidden: "This page may not show notifications. Allow it in the browser’s settings.",
    offline: "No network: try again when there is one.",
    browser:
      "This browser takes no notifications now: in a private window, or where its push service is blocked. Try another window or browser.",
    full: "You wait for as much as possible. Stop one first.",
    unavailable: "That did not work just now. Try again later.",
  } satisfies Record<NotAsked, string>,
};

const ru: typeof en = {
  title: (grade) => `Сообщить, когда появится ${grade}`,
  radius: "В пределах",
  km: (km) => (km < 1 ? "только здесь" : `${km} км`),
  ask: "Сообщить мне",
  asking: "Запрашиваем …",
  asked: "Вы получите уведомление.",
  terms: (perDay, days) =>
    `Не больше ${perDay} уведомлений в день, не ночью, в течение ${days} дней. Отключается одним нажатием.`,
  homeScreen:
    "На iPhone уведомления приходят только с экрана «Домой»: в Safari нажмите «Поделиться», затем «На экран „Домой“», и откройте карту оттуда.",
  chooseFuel: "Выберите топливо, о котором сообщить.",
  mine: "Вам сообщат",
  onlyLikely: "Только если скорее всего есть (от 70\u00a0%)",
  one: (grade, km, likely) =>
    `${grade} ${km < 1 ? "на одной станции" : `в пределах ${km} км`}${likely ? ", если скорее всего есть" : ""}`,
  until: (day) => `до ${day}`,
  stop: "Отключить",
  stopOne: (what) => `Отключить: ${what}`,
  notStopped: "Сервис сейчас не отвечает. Попробуйте ещё раз.",
  refusals: {
    forbidden: "Этой странице нельзя показывать уведомления. Разрешите это в настройках браузера.",
    offline: "Нет сети. Попробуйте, когда она появится.",
    browser:
      "Браузер сейчас не принимает уведомления: это приватное окно или его служба уведомлений заблокирована. Попробуйте другое окно или браузер.",
    full: "Больше ожиданий добавить нельзя. Сначала отключите одно.",
    unavailable: "Сейчас не получилось. Попробуйте позже.",
  },
};

export const alertWords = { en, ru }[language];
