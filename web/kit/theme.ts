import { effect, signal } from "@preact/signals";
import { recall, remember } from "#web/kit/storage.ts";

export type Theme = "light" | "dark";

const stored = "theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

/** The theme that is shown; the viewer's own choice is remembered in the browser. */
export const theme = signal<Theme>("light");

/**
 * Starts with the viewer's remembered choice, else with `asked` (`auto`: the system's, followed as it changes). A
 * locked theme is `asked` whatever was chosen before.
 */
export function startTheme(asked: Theme | "auto", locked: boolean): void {
  const start = (locked ? null : chosenTheme()) ?? asked;
  const ofSystem = (): Theme => (dark.matches ? "dark" : "light");
  theme.value = start === "auto" ? ofSystem() : start;
  if (asked === "auto") {
    dark.addEventListener("change", () => {
      if (locked || recall(stored) === null) theme.value = ofSystem();
    });
  }
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

/** The viewer's own choice. */
export function switchTheme(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  remember(stored, theme.value);
}

/** The theme that the viewer has chosen in this browser; null: as the page or the system says. */
export function chosenTheme(): Theme | null {
  const chosen = recall(stored);
  return chosen === "light" || chosen === "dark" ? chosen : null;
}

/** The viewer's own choice; null follows the system from now on. */
export function chooseTheme(choice: Theme | null): void {
  remember(stored, choice);
  theme.value = choice ?? (dark.matches ? "dark" : "light");
}
