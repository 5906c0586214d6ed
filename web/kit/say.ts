import { russian } from "#web/kit/russian.ts";
import { language, speaker } from "#web/kit/words.ts";

/** The words of the parts that pages share: few, so they come with the parts. */
export const { say } = speaker<keyof typeof russian>(language === "ru" ? russian : null);
