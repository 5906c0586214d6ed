/**
 * Puts words into bull-board's page. Runs in the browser before the page's own scripts, whose settings it completes.
 *
 * The page speaks the console's language (web/kit/words.ts) until another one is chosen in its own settings. Its
 * buttons get names that a screen reader can say: it has none for those that are only an icon, and no option for them.
 * They are known by the beginning of their icon's path and called what their tooltip shows; one that a later version
 * brings is at least an action (decisions 13.27).
 */
export const boardWordsScript = `
const stored = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

const wanted = [stored("language"), ...navigator.languages]
  .map((name) => (name ?? "").slice(0, 2).toLowerCase())
  .find((name) => name === "en" || name === "ru");
const lng = wanted === "ru" ? "ru-RU" : "en-GB";
// What is chosen in the page's settings is kept there, and counts more than ours.
const language = () => JSON.parse(stored("board-settings") ?? "{}").state?.language || lng;

const settings = document.getElementById("__UI_CONFIG__");
const config = { ...JSON.parse(settings.textContent), locale: { lng } };
if (language() === "ru-RU") {
  config.boardTitle = "Очереди Fuelmark";
  config.miscLinks = config.miscLinks.map((link) => ({ ...link, text: "Консоль" }));
  document.title = config.boardTitle;
}
settings.textContent = JSON.stringify(config);

const names = [
  ["M23.99314 6.28305", "Redis details", "Сведения о Redis"],
  ["M8 3H5a2 2 0 0 0-2 2v3", "Full screen", "На весь экран"],
  ["M9.671 4.136", "Settings", "Настройки"],
  ["M7 20.662V19", "Links", "Ссылки"],
  ["M3 12a9 9 0 0 1 9-9", "Retry", "Повторить"],
  ["M15 2h-4a2 2 0 0 0-2 2v11", "Duplicate", "Дублировать"],
  ["M21.174 6.812", "Update data", "Обновить данные"],
  ["M10 11v6", "Clean", "Удалить"],
  ["M20 20v-7a4 4 0 0 0-4-4H4", "Promote", "Продвинуть"],
  ["M12 6v6l4 2", "Reschedule", "Перенести"],
  ["M4 16c-1.1 0-2-.9-2-2V4", "Copy", "Копировать"],
  ["M20 6 9 17l-5-5", "Copied", "Скопировано"],
];
const menu = ["", "More actions", "Другие действия"];
const other = ["", "Action", "Действие"];

const namesOf = (button) => {
  const paths = [...button.querySelectorAll("path")].map((path) => path.getAttribute("d") ?? "");
  const entry = names.find(([start]) => paths.some((path) => path.startsWith(start)));
  return entry ?? (button.getAttribute("aria-haspopup") === "menu" ? menu : other);
};

const isIcon = ({ childNodes: [icon, ...more] }) => icon?.localName === "svg" && more.length === 0;

const named = new WeakSet();
const nameAll = () => {
  const now = language();
  document.documentElement.lang = now;
  for (const button of document.querySelectorAll("button")) {
    const hasName = button.hasAttribute("aria-label") || button.title !== "";
    if (!isIcon(button) || (hasName && !named.has(button))) continue;
    named.add(button);
    const [, english, russian] = namesOf(button);
    button.setAttribute("aria-label", now === "ru-RU" ? russian : english);
    button.firstChild.setAttribute("aria-hidden", "true");
  }
};

// The page draws its buttons when it has its data, and anew as that changes.
new MutationObserver(nameAll).observe(document.body, { childList: true, subtree: true });
nameAll();
`;
