import { signal } from "@preact/signals";
import { chooseTheme, chosenTheme, type Theme } from "#web/kit/theme.ts";
import { say } from "#web/kit/say.ts";

const choice = signal<Theme | "auto">(chosenTheme() ?? "auto");

/** Light, dark, or as the system says; remembered in this browser. */
export function ThemeChoice() {
  const choose = (value: string): void => {
    choice.value = value === "light" || value === "dark" ? value : "auto";
    chooseTheme(choice.value === "auto" ? null : choice.value);
  };
  return (
    <select
      class="theme"
      aria-label={say("Theme")}
      value={choice.value}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      <option value="auto">{say("Auto")}</option>
      <option value="light">{say("Light")}</option>
      <option value="dark">{say("Dark")}</option>
    </select>
  );
}
