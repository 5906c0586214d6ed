export type Language = "en" | "ru";

/** Russian when the browser prefers it to English, else English. */
export function preferredLanguage(preferred: readonly string[]): Language {
  const first = preferred
    .map((name) => name.slice(0, 2).toLowerCase())
    .find((name) => name === "ru" || name === "en");
  return first === "ru" ? "ru" : "en";
}

/** The locale for dates and times of Intl: days before months, and 24 hours. */
export const localeOf = (language: Language): string => (language === "ru" ? "ru" : "en-GB");

/** Words for a number of things: `plural("ru", { one: "станция", few: "станции", many: "станций" })(5)`. */
export function plural(
  language: Language,
  forms: { one: string; few?: string; many?: string; other?: string },
): (count: number) => string {
  const rules = new Intl.PluralRules(language);
  return (count) => {
    const rule = rules.select(count);
    const form = rule === "one" || rule === "few" || rule === "many" ? forms[rule] : forms.other;
    return form ?? forms.other ?? forms.many ?? forms.one;
  };
}
