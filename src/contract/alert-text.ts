import { distanceText, priceText } from "#src/contract/driver-texts.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { priceOf } from "#src/domain/grade-answer.ts";
import type { Grade } from "#src/domain/vocabulary.ts";

type Language = "en" | "ru";

/** A notification: the push service carries its JSON, encrypted. */
export interface AlertMessage {
  title: string;
  body: string;
  lang: Language;
  /** Path on this service that a tap opens. */
  path: string;
  /** A repetition has the same tag, so it replaces the first notification and makes no sound. */
  tag: string;
  stop: { id: number; token: string; label: string };
}

/** The station that a notification names. */
export interface Named {
  name: string;
  brand: string;
  addr: string;
  fuel: FuelBlock;
  /** From the driver's place. */
  distanceM: number;
}

const words = {
  ru: {
    has: (grade: Grade, far: string) => `${grade} есть в ${far}`,
    queue: "очередь",
    low: "мало",
    more: (count: number) => `и ещё станций: ${count}`,
    stop: "Больше не сообщать",
  },
  en: {
    has: (grade: Grade, far: string) => `${grade} is there, ${far} away`,
    queue: "queue",
    low: "little left",
    more: (count: number) => `and ${count} more`,
    stop: "Do not tell me again",
  },
} as const;

/** Title and text of a notification: the nearest station, and how many others have the grade as well. */
export function alertText(
  language: Language,
  grade: Grade,
  { name, brand, addr, fuel, distanceM }: Named,
  others: number,
): Pick<AlertMessage, "title" | "body"> {
  const text = words[language];
  const price = priceOf(fuel.prices, grade);
  const said = [
    [name || brand, addr].filter((part) => part !== "").join(", "),
    fuel.status === "low" ? text.low : "",
    fuel.queue === "" && fuel.status !== "queue" ? "" : text.queue,
    price === null ? "" : priceText(language, price),
    others === 0 ? "" : text.more(others),
  ];
  return {
    title: text.has(grade, distanceText(language, distanceM)),
    body: said.filter((part) => part !== "").join(" · "),
  };
}

/** The label of the button that ends the alert. */
export const stopLabel = (language: Language): string => words[language].stop;
