import type { EmbedKeyState } from "#src/contract/embed.ts";
import { type Language, preferredLanguage } from "#src/contract/language.ts";

const en = {
  title: "Embed the map",
  lead: "Choose how the map looks on your website, then copy one line of HTML.",
  frameTitle: "Map of fuel at filling stations",
  key: "Publishable key",
  keyHint: "The pk_live_… key that the operator gave you. This browser remembers it for this page.",
  keyWanted: (prefix: string) =>
    `Put in the key that begins with ${prefix}: the service knows only its beginning. This browser then remembers it.`,
  kept: (prefix: string) => `Key ${prefix}…, remembered in this browser.`,
  keptKeys: "Keys in this browser",
  forget: "Forget the key",
  states: {
    "invalid-key":
      "This key is not valid: mistyped, revoked or expired. Check that it was copied whole.",
    "secret-key":
      "This is a secret key. It belongs on your server and never in a page, so it was not sent. Put in the publishable key (pk_live_…).",
    "partner-disabled": "Access with this key is switched off. Ask the operator.",
    unavailable: "The key could not be checked: the service does not answer. Trying again …",
  } satisfies Record<Exclude<EmbedKeyState, "ok" | "no-key">, string>,
  checking: "Checking the key …",
  bound: "The map will be shown on these domains and their subdomains only:",
  unbound: "The key is bound to no domain yet, so no website may show the map. Ask the operator.",
  noReports: "Drivers cannot mark stations on this map: that is switched off for the key.",
  site: "Your website",
  siteHint: "To see whether the key is good for it. Optional, and sent nowhere.",
  siteAllowed: "✓ The key is bound to this website.",
  siteRefused:
    "The key is bound to other domains: on this website the map would not be shown. Ask the operator to add it.",
  opens: "The map opens on",
  places: { start: "the operator’s choice", city: "a city", point: "a point" },
  city: "City",
  cityUnknown: "No city is called that: the map would open on the operator’s choice.",
  lat: "Latitude",
  lon: "Longitude",
  zoom: "Zoom",
  look: "Look",
  theme: "Theme at the start",
  themes: { auto: "as the viewer’s system", light: "light", dark: "dark" },
  fuel: "Filter at the start",
  anyFuel: "any fuel",
  gestures: "Wheel and one finger",
  gesturesOf: {
    default: "default: cooperative in a page",
    cooperative: "cooperative: scroll your page",
    greedy: "greedy: move the map",
  },
  language: "Language",
  languageOfViewer: "the viewer’s",
  accent: "Colour of buttons",
  accentHint: "Made darker or lighter where letters could not be read on it.",
  accentPick: "Pick a colour",
  noFilter: "Hide the filters",
  noSearch: "Hide search",
  themeLock: "Lock the theme and hide its button",
  size: "Size",
  width: "Width, px or %",
  height: "Height, px",
  faults: {
    city: "At most 120 characters.",
    lat: "A number from −90 to 90.",
    lon: "A number from −180 to 180.",
    zoom: "A number from 0 to 22.",
    accent: "Six hexadecimal digits, like 0b5cad.",
    width: "Pixels (from 10 to 9999) or a percentage, like 100%.",
    height: "A whole number from 200 to 4000.",
  } satisfies Record<"city" | "lat" | "lon" | "zoom" | "accent" | "width" | "height", string>,
  line: "The line for your page",
  lineHint:
    "“allow” is what the locate and full-screen buttons need, “referrerpolicy” tells the map your website’s address, and without a height browsers would give it 150 pixels.",
  policyHint: "If your page has a Content-Security-Policy, it needs:",
  copy: { label: "Copy the line", done: "Copied", byHand: "Select it and copy by hand" },
  copyWaits: "The line can be copied when the key is valid.",
  copyWaitsForCity: "The line can be copied when the city is known.",
  mend: "Something above cannot be used yet.",
  preview: "Preview",
  previewAsk: "Show a sample",
  previewWaits: "The map shows here as soon as the key is valid.",
  previewHint: "This is the real map: marks made here count.",
  previewSample:
    "Without a key, the operator’s own map as a sample: with your key it looks the same. Marks made here count.",
};

const ru: typeof en = {
  title: "Карта на вашем сайте",
  lead: "Выберите вид карты и скопируйте одну строку HTML на свой сайт.",
  frameTitle: "Карта наличия топлива на АЗС",
  key: "Публичный ключ",
  keyHint: "Ключ pk_live_…, который выдал оператор. Браузер запомнит его для этой страницы.",
  keyWanted: (prefix) =>
    `Укажите ключ, который начинается с ${prefix}: сервис знает только его начало. Браузер его запомнит.`,
  kept: (prefix) => `Ключ ${prefix}… сохранён в этом браузере.`,
  keptKeys: "Ключи в этом браузере",
  forget: "Забыть ключ",
  states: {
    "invalid-key":
      "Ключ недействителен: в нём опечатка, он отозван или истёк. Проверьте, что он скопирован целиком.",
    "secret-key":
      "Это секретный ключ. Его место на вашем сервере, а не на странице, поэтому он никуда не отправлен. Укажите публичный ключ (pk_live_…).",
    "partner-disabled": "Доступ по этому ключу выключен. Обратитесь к оператору.",
    unavailable: "Ключ не удалось проверить: сервис не отвечает. Пробуем ещё раз …",
  },
  checking: "Проверяем ключ …",
  bound: "Карта будет показана только на этих доменах и их поддоменах:",
  unbound:
    "Ключ пока не привязан ни к одному домену, карту не покажет ни один сайт. Обратитесь к оператору.",
  noReports: "На этой карте водители не могут отмечать станции: для ключа это выключено.",
  site: "Ваш сайт",
  siteHint: "Чтобы проверить, подходит ли ключ. Необязательно и никуда не отправляется.",
  siteAllowed: "✓ Ключ привязан к этому сайту.",
  siteRefused:
    "Ключ привязан к другим доменам: на этом сайте карта не откроется. Попросите оператора добавить его.",
  opens: "Карта открывается",
  places: { start: "по выбору оператора", city: "на городе", point: "на точке" },
  city: "Город",
  cityUnknown: "Такого города нет: карта откроется по выбору оператора.",
  lat: "Широта",
  lon: "Долгота",
  zoom: "Масштаб",
  look: "Вид",
  theme: "Тема при открытии",
  themes: { auto: "как в системе зрителя", light: "светлая", dark: "тёмная" },
  fuel: "Фильтр при открытии",
  anyFuel: "любое топливо",
  gestures: "Колесо и один палец",
  gesturesOf: {
    default: "по умолчанию: как «совместно»",
    cooperative: "совместно: листают страницу",
    greedy: "только карта: двигают карту",
  },
  language: "Язык",
  languageOfViewer: "язык зрителя",
  accent: "Цвет кнопок",
  accentHint: "Станет темнее или светлее, если на нём не прочесть текст.",
  accentPick: "Выбрать цвет",
  noFilter: "Скрыть фильтры",
  noSearch: "Скрыть поиск",
  themeLock: "Закрепить тему и скрыть её кнопку",
  size: "Размер",
  width: "Ширина, px или %",
  height: "Высота, px",
  faults: {
    city: "Не больше 120 знаков.",
    lat: "Число от −90 до 90.",
    lon: "Число от −180 до 180.",
    zoom: "Число от 0 до 22.",
    accent: "Шесть шестнадцатеричных цифр, например 0b5cad.",
    width: "Пиксели (от 10 до 9999) или проценты, например 100%.",
    height: "Целое число от 200 до 4000.",
  },
  line: "Строка для вашей страницы",
  lineHint:
    "«allow» нужен кнопкам «Где я» и «На весь экран», «referrerpolicy» сообщает карте адрес вашего сайта, а без высоты браузер отвёл бы ей 150 пикселей.",
  policyHint: "Если у вашей страницы есть Content-Security-Policy, в ней нужно:",
  copy: {
    label: "Скопировать строку",
    done: "Скопировано",
    byHand: "Выделите и скопируйте вручную",
  },
  copyWaits: "Строку можно скопировать, когда ключ действителен.",
  copyWaitsForCity: "Строку можно скопировать, когда город известен.",
  mend: "Что-то выше заполнено неверно.",
  preview: "Как это выглядит",
  previewAsk: "Показать пример",
  previewWaits: "Карта появится здесь, когда ключ будет действителен.",
  previewHint: "Это настоящая карта: отметки на ней засчитываются.",
  previewSample:
    "Пока нет ключа, для примера показана карта оператора: с вашим ключом она выглядит так же. Отметки на ней засчитываются.",
};

const all: Record<Language, typeof en> = { en, ru };

export const language = preferredLanguage(navigator.languages);

/** The words of the partner's language. */
export const words = all[language];
