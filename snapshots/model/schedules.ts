import { type Closure, closureIn, isClosedAt } from "#src/domain/closure.ts";
import type { Point } from "#src/domain/geo.ts";
import { minuteMs } from "#src/domain/units.ts";
import { inTurns } from "#src/infrastructure/turns.ts";
import { dayMinutes, minuteOfWeek, wallMinutes } from "#src/domain/wall-clock.ts";
import { hasHolidays, type OpenTimes, readOpenTimes } from "#src/stations/opening-hours.ts";
import { territoriesOf, zoneOf } from "#src/stations/territories.ts";

/** The number of stations whose hours are unknown. */
export const noSchedule = 0;

const quarterMs = 15 * minuteMs;

export type OpenState = "open" | "closed" | "unknown";

/** Opening hours in a time zone, and in a territory if they name holidays: thousands of stations share one. */
interface Schedule {
  text: string;
  /** Closed for now, whatever the text says. */
  closure: Closure | null;
  zone: string;
  /** The first station with it, for the territory's holidays. */
  place: Point;
  /** Null: unknown. Undefined: nobody has asked yet. */
  times: OpenTimes | null | undefined;
  /** The day of `times` that are not weekly, as minutes. */
  dayStart: number;
}

export type Schedules = ReturnType<typeof createSchedules>;

/**
 * The opening hours of a model's stations, each text once in each time zone, by number. A text is read when somebody first
 * asks whether it is open (0.6 ms), and one whose weeks differ again each day; every other question is a look into its
 * spans (decisions 14.20). `onUnknownZone` hears once of a zone that this runtime does not know: hours there are unknown.
 */
export function createSchedules(onUnknownZone: (zone: string) => void = () => {}, zoneAt = zoneOf) {
  const numbers = new Map<string, number>();
  const schedules: Schedule[] = [];
  const clocks = new Map<string, { atMinute: number; wall: number | null }>();
  /** Times that are the same every week, and so in every zone, by their text. */
  const everyWeek = new Map<string, OpenTimes>();
  /** In the quarter of an hour `readQuarter`, all schedules up to this one have been read. */
  let [readTo, readQuarter] = [0, 0];

  /** A clock of the zone, read once a minute. */
  const wallAt = (now: number, zone: string): number | null => {
    const atMinute = Math.floor(now / minuteMs);
    const read = clocks.get(zone);
    if (read?.atMinute === atMinute) return read.wall;
    const wall = wallMinutes(now, zone);
    if (wall === null && read === undefined) onUnknownZone(zone);
    clocks.set(zone, { atMinute, wall });
    return wall;
  };

  /** Whether a station with these hours is open at `now`, ms. */
  const stateAt = (number: number, now: number): OpenState => {
    const schedule = schedules[number - 1];
    if (schedule === undefined) return "unknown";
    const { text, closure, zone, place } = schedule;
    if (closure !== null && isClosedAt(closure, now)) return "closed";
    if (text === "") return "unknown";
    if (text === "24/7") return "open";
    const wall = wallAt(now, zone);
    if (wall === null) return "unknown";
    const dayStart = wall - (wall % dayMinutes);
    const { times } = schedule;
    if (times === undefined || (times?.weekly === false && schedule.dayStart !== dayStart)) {
      schedule.times = everyWeek.get(text) ?? readOpenTimes(text, place, dayStart);
      schedule.dayStart = dayStart;
      if (schedule.times?.weekly === true) everyWeek.set(text, schedule.times);
    }
    if (!schedule.times) return "unknown";
    const { weekly, open, unsure } = schedule.times;
    const minute = weekly ? minuteOfWeek(wall) : wall - dayStart;
    return isInside(open, minute) ? "open" : isInside(unsure, minute) ? "unknown" : "closed";
  };

  function* readRest(now: number): Generator<void, void> {
    // A zone's day begins at a quarter of an hour.
    const quarter = Math.floor(now / quarterMs);
    if (quarter !== readQuarter) [readTo, readQuarter] = [0, quarter];
    while (readTo < schedules.length) yield void stateAt((readTo += 1), now);
  }
  let reading: Promise<void> | null = null;

  return {
    stateAt,
    /**
     * Reads what is unread, once for all callers, in short turns: the first question about a large country would hold
     * others up for seconds.
     */
    readAll: (now: number): Promise<void> =>
      (reading ??= inTurns(readRest(now)).finally(() => (reading = null))),
    /** The number of the hours `text` at a place that is `closed` (`closureIn`) or not; `noSchedule` for neither. */
    numberOf(text: string, { lat, lon }: Point, closed = ""): number {
      if (text + closed === "") return noSchedule;
      const zone = zoneAt({ lat, lon });
      const land = hasHolidays(text) ? territoriesOf({ lat, lon }).join() : "";
      const key = `${zone} ${land} ${closed} ${text}`;
      let number = numbers.get(key);
      if (number === undefined) {
        const closure = closureIn(closed);
        schedules.push({ text, closure, zone, place: { lat, lon }, times: undefined, dayStart: 0 });
        numbers.set(key, (number = schedules.length));
      }
      return number;
    },
  };
}

function isInside(spans: Uint16Array, minute: number): boolean {
  for (let i = 0; i < spans.length; i += 2)
    if (minute >= (spans[i] as number) && minute < (spans[i + 1] as number)) return true;
  return false;
}
