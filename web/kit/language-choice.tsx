import { say } from "#web/kit/say.ts";
import { chooseLanguage, language } from "#web/kit/words.ts";

/** Russian or English; remembered in this browser. */
export const LanguageChoice = () => (
  <select
    class="theme"
    aria-label={say("Language")}
    value={language}
    onChange={({ currentTarget }) => chooseLanguage(currentTarget.value === "ru" ? "ru" : "en")}
  >
    <option value="en" lang="en">
      English
    </option>
    <option value="ru" lang="ru">
      Русский
    </option>
  </select>
);
