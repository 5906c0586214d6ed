import { russian } from "#web/kit/russian.ts";
import { language, speaker } from "#web/kit/words.ts";

/** The words of what pages share: few, so that they come with it. */
export const { say } = speaker<keyof typeof russian>(language === "ru" ? russian : null);
