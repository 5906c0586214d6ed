import { russianFault, translated } from "#web/console/russian/say-fault.ts";
import { language } from "#web/kit/words.ts";

// Only readers of Russian load it.
const russian = language === "ru" ? await import("#web/console/russian/faults.ts") : null;

/** A fault in the viewer's language. */
export const sayFault = (fault: string): string =>
  russian === null ? fault : russianFault(fault, russian.faults);

/** The reason of a row that was left out, in the viewer's language. */
export const sayReason = (code: string): string => russian?.reasons[code] ?? code;

/** "line 12" or "record 7" in the viewer's language. */
export const sayPlace = (place: string): string =>
  russian === null ? place : (translated(place, russian.faults) ?? place);
