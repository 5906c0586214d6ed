import type { LocalTime } from "#src/domain/wall-clock.ts";

/** True for a time zone of the IANA list. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The local time in the zone at `now`, ms; in UTC if the zone is empty or unknown by now. */
export function localTime(now: number, zone: string): LocalTime {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: isTimeZone(zone) ? zone : "UTC",
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(now);
  const read = (type: string): string => parts.find((part) => part.type === type)!.value;
  return {
    day: `${read("year")}-${read("month")}-${read("day")}`,
    hour: Number(read("hour")),
    minute: Number(read("minute")),
  };
}
