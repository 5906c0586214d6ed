import type { ComponentChildren } from "preact";
import { type Said, say, sayWith } from "#web/console/words.ts";
import { heardIn } from "#web/kit/heard.ts";

/**
 * A sentence of the server in the viewer's language, if it is one of `forms`; null otherwise. `shown` may turn
 * a value into more than its text.
 */
export function hear(
  forms: readonly Said[],
  text: string,
  shown: (name: string, value: string) => ComponentChildren = (_, value) => value,
): ComponentChildren | null {
  for (const form of forms) {
    const found = heardIn(form, text);
    if (found === null) continue;
    const values = Object.entries(found).map(([name, value]) => [name, shown(name, value)]);
    return (sayWith as SayAny)(form, Object.fromEntries(values));
  }
  return null;
}

/** The same as text alone, for sorting. */
export const hearText = (forms: readonly Said[], text: string): string => {
  for (const form of forms) {
    const found = heardIn(form, text);
    if (found !== null) return (say as SayAnyText)(form, found);
  }
  return text;
};

type SayAny = (text: Said, values: Record<string, ComponentChildren>) => ComponentChildren;
type SayAnyText = (text: Said, values: Record<string, string>) => string;
