import type { russian } from "#web/dashboard/russian.ts";
import { language, type Plain, speaker } from "#web/kit/words.ts";

type All = keyof typeof russian;
/** An English text of the dashboard without placeholders. */
export type Text = Plain<All>;

// Only readers of Russian load it.
const table = language === "ru" ? (await import("#web/dashboard/russian.ts")).russian : null;

/** The dashboard's words in the viewer's language. */
export const { say, sayWith } = speaker<All>(table);
