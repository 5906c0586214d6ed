/** The language that the server has chosen for this page. */
export const language = document.documentElement.lang === "ru" ? "ru" : "en";

/** One of two texts, in the language of the page. */
export const say = (english: string, russian: string): string =>
  language === "ru" ? russian : english;
