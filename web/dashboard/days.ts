import { locale } from "#web/kit/words.ts";
const format = new Intl.DateTimeFormat(locale, {
  weekday: "short",
  day: "numeric",
  month: "short",
  timeZone: "UTC",
});

/** A UTC day (`2026-11-21`) in words. Days are the service's own, whatever the viewer's zone is. */
export const dayWords = (date: string): string => format.format(new Date(`${date}T00:00:00Z`));
