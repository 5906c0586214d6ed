import { signal } from "@preact/signals";
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

/** True when the service has said in the last minutes that the station is closed by its opening hours. */
export function isClosed({ id }: Station): boolean {
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
