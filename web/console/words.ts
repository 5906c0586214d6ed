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
