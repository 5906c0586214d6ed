import "#web/kit/tokens.css";
import "#web/docs/docs.css";
import { effect } from "@preact/signals";
import { startTheme, switchTheme, theme } from "#web/kit/theme.ts";
import { startSamples } from "#web/docs/samples.ts";
import { startSearch } from "#web/docs/search.ts";
import { startTrying } from "#web/docs/try-it.ts";

// The pages can be read without this: it adds search, tabs, the theme and calls.
startTheme("auto", false);
const themeButton = document.querySelector<HTMLButtonElement>("header .theme")!;
effect(() => {
  themeButton.textContent = theme.value === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `${themeButton.textContent} theme`);
});
themeButton.addEventListener("click", switchTheme);
themeButton.hidden = false;

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

startSearch(sidebar, document.querySelector<HTMLAnchorElement>("header .home")!.href);
startSamples();
startTrying();

// A long list: readers see where they are. The overview of all leaves the guide in sight, which stands first.
const here = sidebar.querySelector<HTMLAnchorElement>("[aria-current]");
if (here !== null && !here.pathname.endsWith("/docs"))
  sidebar.scrollTop = Math.max(0, here.offsetTop - sidebar.clientHeight / 3);
