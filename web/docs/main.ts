import "#web/kit/tokens.css";
import "#web/docs/docs.css";
import { effect } from "@preact/signals";
import { recall, remember } from "#web/kit/storage.ts";
import { startTheme, switchTheme, theme } from "#web/kit/theme.ts";
import { language, say } from "#web/docs/say.ts";
import { startSamples } from "#web/docs/samples.ts";
import { startSearch } from "#web/docs/search.ts";
import { startTrying } from "#web/docs/try-it.ts";

// The pages can be read without this: it adds search, tabs, the theme and calls.
startTheme("auto", false);
const themeButton = document.querySelector<HTMLButtonElement>("header .theme")!;
effect(() => {
  const isDark = theme.value === "dark";
  themeButton.textContent = isDark ? say("Light", "Светлая") : say("Dark", "Тёмная");
  themeButton.setAttribute(
    "aria-label",
    isDark ? say("Light theme", "Светлая тема") : say("Dark theme", "Тёмная тема"),
  );
});
themeButton.addEventListener("click", switchTheme);
themeButton.hidden = false;

// The choice is one with that of the dashboard.
const stored = "language";
const here = new URL(location.href);
const chosen = recall(stored);
if (!here.searchParams.has("lang") && (chosen === "en" || chosen === "ru") && chosen !== language) {
  here.searchParams.set("lang", chosen);
  location.replace(here);
}
document
  .querySelector<HTMLAnchorElement>("header .language")!
  .addEventListener("click", ({ currentTarget }) =>
    remember(stored, (currentTarget as HTMLAnchorElement).hreflang),
  );

const sidebar = document.querySelector<HTMLElement>("#sidebar")!;
const menu = document.querySelector<HTMLButtonElement>("header .menu")!;
const showMenu = (isOpen: boolean): void => {
  menu.setAttribute("aria-expanded", String(isOpen));
  sidebar.classList.toggle("open", isOpen);
};
menu.addEventListener("click", () => showMenu(menu.getAttribute("aria-expanded") !== "true"));
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || menu.getAttribute("aria-expanded") !== "true") return;
  showMenu(false);
  menu.focus();
});
sidebar.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") !== null) showMenu(false);
});
menu.hidden = false;
document.documentElement.classList.add("script");

startSearch(sidebar, document.querySelector<HTMLAnchorElement>("header .home")!.pathname);
startSamples();
startTrying();

// A long list: readers see where they are. The overview of all leaves the guide in sight, which stands first.
const current = sidebar.querySelector<HTMLAnchorElement>("[aria-current]");
if (current !== null && !current.pathname.endsWith("/docs"))
  sidebar.scrollTop = Math.max(0, current.offsetTop - sidebar.clientHeight / 3);
