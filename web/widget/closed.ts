import { signal } from "@preact/signals";
import type { Language } from "#src/contract/language.ts";
import { type Closure, isClosedAt } from "#src/domain/closure.ts";
import { parseTime } from "#src/domain/time.ts";
import { minuteMs } from "#src/domain/units.ts";
import { ask, type Station } from "#web/widget/api.ts";
import { nameOf } from "#web/widget/rectangles.ts";
import { now } from "#web/widget/state.ts";

/** The service is asked again after so long, and what it said holds for twice as long. */
const againMs = 5 * minuteMs;
/** How far apart the stations of one question may be. */
const reachDegrees = 5;

/** What the service has said of stations with opening hours, by id. Reading hours takes a library ten times this page. */
const told = signal<ReadonlyMap<string, { closed: boolean; at: number }>>(new Map());
let busy = false;
/** The stations of a question that came while another one was under way. */
let next: readonly Station[] | null = null;

/** True when the station is closed for now, or the service has said in the last minutes that its hours are over. */
export function isClosed({ id, closed }: Station): boolean {
  if (closed !== undefined && isClosedAt(closed, now.value)) return true;
  const known = told.value.get(id);
  return known?.closed === true && now.value - known.at < 2 * againMs;
}

/** Asks which of these stations, which stand near each other, are closed now; those that nobody has asked about lately. */
export async function askClosed(stations: readonly Station[]): Promise<void> {
  const at = now.peek();
  const unknown = stations.filter(
    ({ id, opening_hours: hours = "24/7" }) =>
      hours !== "24/7" && at - (told.peek().get(id)?.at ?? -Infinity) >= againMs,
  );
  if (unknown.length === 0) return;
  if (busy) {
    next = stations;
    return;
  }
  const lats = unknown.map(({ lat }) => lat);
  const lons = unknown.map(({ lon }) => lon);
  const [south, north] = [Math.min(...lats), Math.max(...lats)];
  const [west, east] = [Math.min(...lons), Math.max(...lons)];
  // Too many others would be in between, and an answer holds 4,000.
  if (east - west > reachDegrees || north - south > reachDegrees) return;
  busy = true;
  const box = nameOf({
    south: south - 1e-4,
    west: west - 1e-4,
    north: north + 1e-4,
    east: east + 1e-4,
  });
  const answer = await ask<{ stations: Station[]; truncated: boolean }>(
    `/stations?bbox=${box}&opened=false`,
  );
  busy = false;
  if (answer.kind === "ok") {
    const closed = new Set(answer.body.stations.map(({ id }) => id));
    const answered = unknown.filter(({ id }) => !answer.body.truncated || closed.has(id));
    told.value = new Map([
      ...told.peek(),
      ...answered.map(({ id }) => [id, { closed: closed.has(id), at }] as const),
    ]);
  }
  const waiting = next;
  next = null;
  if (waiting !== null) await askClosed(waiting);
}

const texts = {
  en: { now: "Closed for now", from: "Closed from ", until: " until " },
  ru: { now: "Временно закрыта", from: "Закрыта с ", until: " до " },
};

/** `Closed for now until 1 Dec, 06:00`, or from when it will be; "" for a closure that is over. */
export function closedText(language: Language, { from, until }: Closure, at: number): string {
  const shown = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" } as const;
  const format = new Intl.DateTimeFormat(language, { ...shown, hourCycle: "h23" });
  const [since, end] = [from, until].map((time) => (time === null ? null : parseTime(time)));
  const words = texts[language];
  if (end != null && end <= at) return "";
  const begin = since != null && since > at ? words.from + format.format(since) : words.now;
  return end == null ? begin : begin + words.until + format.format(end);
}
