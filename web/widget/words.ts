import { type Language, localeOf, preferredLanguage } from "#src/contract/language.ts";
import { page } from "#web/widget/page.ts";
import { en } from "#web/widget/words-en.ts";
import { ru } from "#web/widget/words-ru.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

/** All words of the map; both languages have all of them. */
export type Words = typeof en;

const all: Record<Language, Words> = { en, ru };

/** The operator's own map is in the language of the server's page, which knows what this device has chosen. */
export const language =
  page.language ??
  preferredLanguage(page.isOwnMap ? [document.documentElement.lang] : navigator.languages);

/** The locale for dates and times of Intl. */
export const locale = localeOf(language);

/** The words of the viewer's language, or of the one that the address asks for. */
export const words = all[language];

/** A list of grades as the wire has it ("92,ДТ"), for people. */
export const namesOf = (grades: string): string =>
  grades
    .split(",")
    .map((grade) => words.gradeName(grade as Grade))
    .join(", ");
