import { computed, signal } from "@preact/signals";
import { distanceM } from "#src/domain/geo.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import { recall, remember } from "#web/kit/storage.ts";
import type { Station } from "#web/widget/api.ts";
import { cooldownOf } from "#web/widget/cooldown.ts";
import { stations } from "#web/widget/loader.ts";
import { position } from "#web/widget/position.ts";
import { config, now } from "#web/widget/state.ts";

const name = "asked";
const withinM = 300;
/** A driver may have gone on since. */
const positionGoodMs = 5 * minuteMs;
const quietMs = 6 * hourMs;

let foundAt = 0;
position.subscribe((at) => (foundAt = at === null ? 0 : Date.now()));
const asked = signal(0);

/**
 * The station that the viewer stands at, as far as the page knows the position already: nothing asks for it here. Null
 * when the viewer was asked about it in the last hours, or has just marked it (decisions 15.38).
 */
export const atStation = computed<Station | null>(() => {
  // Reading both signals follows them: the passing of time, and an answer to the question.
  void now.value;
  void asked.value;
  const at = position.value;
  if (at === null || at.accM > withinM || Date.now() - foundAt > positionGoodMs) return null;
  if (config.value?.reports_enabled !== true) return null;
  let nearest: Station | null = null;
  let nearestM = withinM;
  for (const station of stations.value.values()) {
    const far = distanceM(at, station);
    if (far <= nearestM) [nearest, nearestM] = [station, far];
  }
  if (nearest === null || nearest.id in quiet() || cooldownOf(nearest.id) !== null) return null;
  return nearest;
});

/** The question about that station has an answer, or was put away. */
export function noteAsked(stationId: string): void {
  remember(name, JSON.stringify({ ...quiet(), [stationId]: Date.now() }));
  asked.value += 1;
}

function quiet(): Record<string, number> {
  try {
    const known = JSON.parse(recall(name) ?? "{}") as Record<string, number>;
    const since = Date.now() - quietMs;
    return Object.fromEntries(Object.entries(known).filter(([, at]) => at > since));
  } catch {
    return {};
  }
}
