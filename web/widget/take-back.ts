import { parseTime } from "#src/domain/time.ts";
import { minuteMs, secondMs } from "#src/domain/units.ts";
import { ask, serverNow, type Station } from "#web/widget/api.ts";
import { cooldowns } from "#web/widget/cooldown.ts";
import { deviceId, forgetOwnMark, takenBack } from "#web/widget/device.ts";
import { askSoon, note, stations } from "#web/widget/loader.ts";
import { drop, outbox } from "#web/widget/offline/outbox.ts";
import { noteFuel } from "#web/widget/panels.ts";
import { config } from "#web/widget/state.ts";
import type { Report, Told } from "#web/widget/told.ts";
import { words } from "#web/widget/words.ts";

// Less than the service allows from its own receipt: the answer and the press take their time.
const offeredMs = 2 * minuteMs - 4000;
/** The driver waits to say something else. */
const askMs = 3 * secondMs;

/** Ms in which the last mark there may still be taken back (decisions 15.35); 0 when it may not. */
export function takeBackLeftMs(stationId: string): number {
  const cooldown = cooldowns.of(stationId);
  if (cooldown === null || takenBack.of(stationId) !== null) return 0;
  return Math.max(0, cooldown.atMs + offeredMs - Date.now());
}

/**
 * A listed station with what the map has heard since: the driver's own mark, or the older status after it was taken back,
 * unless somebody has told something since then.
 */
export function asHeardSince(told: Station): Station {
  const known = stations.value.get(told.id);
  if (known === undefined) return told;
  const goneMs = takenBack.of(told.id)?.atMs ?? 0;
  const isNewer = known.fuel.updated >= told.fuel.updated;
  return isNewer || (parseTime(told.fuel.updated) ?? 0) <= goneMs ? known : told;
}

/** The newest mark of that station which waits for the network, if one does. */
export const waitingThere = (stationId: string): string | null =>
  outbox.value.findLast((entry) => entry.stationId === stationId && entry.refused === null)?.id ??
  null;

/** Drops the mark that waits for the network. It may have arrived all the same: the answer is what was lost. */
export async function dropWaiting(id: string, stationId: string): Promise<void> {
  await drop(id);
  // Else it could be the mark before, which has arrived.
  const isAlone = (config.peek()?.cooldown_s ?? 0) * secondMs > offeredMs;
  if (isAlone && cooldowns.of(stationId) === null)
    await askBack(stationId, AbortSignal.timeout(askMs));
}

/** Has the service take the last mark there back. Gives the result, and the viewer's words for it. */
export async function takeLastBack(stationId: string): Promise<{ taken: boolean; text: string }> {
  const told = await askBack(stationId);
  if (told.kind === "ok") return { taken: true, text: words.takeBack.done };
  const isLate = told.kind === "refused" && told.code === "nothing-to-take-back";
  if (isLate) noteTakenBack(stationId, 0);
  return { taken: false, text: isLate ? words.takeBack.late : words.takeBack.failed };
}

async function askBack(stationId: string, signal?: AbortSignal): Promise<Told<Report>> {
  const path = `/widget/stations/${encodeURIComponent(stationId)}/take-back`;
  const told = await ask<Report>(path, {
    body: { device: deviceId() },
    ...(signal === undefined ? {} : { signal }),
  });
  if (told.kind === "ok") {
    noteTakenBack(stationId, serverNow());
    cooldowns.drop(stationId);
    forgetOwnMark(stationId);
    note(stationId, told.body.fuel);
    noteFuel(stationId, told.body.fuel);
    if (told.body.published.outcome === "queued") askSoon(stationId);
  }
  return told;
}

/** A mark can be taken back once per station and cooldown. */
const noteTakenBack = (stationId: string, atMs: number): void =>
  takenBack.keep(stationId, {
    atMs,
    untilMs: Date.now() + (config.peek()?.cooldown_s ?? 0) * 1000,
  });
