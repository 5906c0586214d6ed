/** Text in the form in which it is searched (decisions.md 6 and 7): lower case, ё = е, one blank between words. */
export const foldText = (text: string): string =>
  text.normalize("NFC").toLowerCase().replaceAll("ё", "е").replace(/\s+/g, " ").trim();

/** A brand in the form in which it is compared (partner-api.md 4.1): exact but for case. */
export const foldBrand = (text: string): string => text.normalize("NFC").trim().toLowerCase();
