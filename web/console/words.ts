import { type Sentence, sentences } from "#src/contract/sentences.ts";
import type { russian } from "#web/console/russian/all.ts";
import { language, type Plain, speaker } from "#web/kit/words.ts";

type All = keyof typeof russian;
/** An English text of the console. */
export type Said = All;
/** A text without placeholders. */
export type Text = Plain<All>;

// Only readers of Russian load it.
const table = language === "ru" ? (await import("#web/console/russian/all.ts")).russian : null;

/** The console's words in the viewer's language. */
export const { say, sayWith } = speaker<All>(table);

type SayAny = (text: Said, values: Record<string, string>) => string;

/** A sentence of the server, or its English text; that of a later version as it was sent. */
export function saySentence(said: Sentence | string): string {
  if (typeof said === "string") return said;
  const form: Said | undefined = sentences[said.code];
  if (form === undefined) return JSON.stringify(said);
  const values = Object.entries(said).map(([name, value]) => [name, String(value)]);
  return (say as SayAny)(form, Object.fromEntries(values));
}
