import type { ComponentChildren } from "preact";
import type { Names } from "#src/contract/sentences.ts";
import { type Language, localeOf, preferredLanguage, plural } from "#src/contract/language.ts";
import { recall, remember } from "#web/kit/storage.ts";

const stored = "language";

/**
 * The language of this page: the viewer's choice, else the browser's. A page that is not translated is English: one
 * that is says so with `data-languages`.
 */
export const language: Language = ((): Language => {
  if (document.documentElement.dataset["languages"] !== "en ru") return "en";
  const chosen = recall(stored);
  return chosen === "ru" || chosen === "en" ? chosen : preferredLanguage(navigator.languages);
})();
document.documentElement.lang = language;

/** The locale for dates and numbers of Intl. */
export const locale = localeOf(language);

/** The viewer's own choice. The page starts anew with it. */
export function chooseLanguage(choice: Language): void {
  remember(stored, choice);
  location.reload();
}

/** The texts of `Text` without placeholders. */
export type Plain<Text extends string> = Text extends `${string}{${string}` ? never : Text;
type Values<Text extends string, Value> = [Names<Text>] extends [never]
  ? []
  : [values: Record<Names<Text>, Value>];

/** The two ways to say a text of `Text` in the page's language. */
export interface Speaker<Text extends string> {
  /** Numbers are written as the language does. */
  say<T extends Text>(this: void, text: T, ...values: Values<T, string | number>): string;
  /** The same with parts of a page in it. */
  sayWith<T extends Text>(
    this: void,
    text: T,
    ...values: Values<T, ComponentChildren>
  ): ComponentChildren;
}

/**
 * Says English texts in the page's language. `table` has the Russian ones by the English; null says English. A text may
 * have `{days|day|days}`, Russian `{days|день|дня|дней}`, which is the form that goes with the number `days`.
 */
export function speaker<Text extends string>(table: Record<Text, string> | null): Speaker<Text> {
  const parts = (text: Text, values: Record<string, ComponentChildren> = {}): ComponentChildren[] =>
    (table?.[text] ?? text)
      .split(/[{}]/)
      .map((part, n) => (n % 2 === 0 ? part : filled(part, values)));
  return {
    say: (text, ...[values]) => parts(text, values).map(String).join(""),
    sayWith: (text, ...[values]) => parts(text, values),
  };
}

function filled(part: string, values: Record<string, ComponentChildren>): ComponentChildren {
  const [name = "", one, few, many] = part.split("|");
  const value = values[name];
  if (one !== undefined && few !== undefined)
    return many === undefined
      ? plural("en", { one, other: few })(Number(value))
      : plural("ru", { one, few, many })(Number(value));
  // An id is no count.
  return typeof value === "number" && name !== "id" ? whole.format(value) : value;
}

const whole = new Intl.NumberFormat(language);
