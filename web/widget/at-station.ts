import { computed } from "@preact/signals";
import { distanceM } from "#src/domain/geo.ts";
import { hourMs, minuteMs } from "#src/domain/units.ts";
import type { Station } from "#web/widget/api.ts";
import { cooldowns } from "#web/widget/cooldown.ts";
import { keptByStation } from "#web/widget/kept-by-station.ts";
import { stations } from "#web/widget/loader.ts";
import { position } from "#web/widget/position.ts";
import { config, now } from "#web/widget/state.ts";

const withinM = 300;
/** A driver may have gone on since. */
const positionGoodMs = 5 * minuteMs;
const quietMs = 6 * hourMs;

let foundAt = 0;
position.subscribe((at) => (foundAt = at === null ? 0 : Date.now()));
const asked = keptByStation("asked");
export const forgetAsked = asked.forget;

/**
 * The station that the viewer stands at, as far as the page knows the position already: nothing asks for it here. Null
 * when the viewer was asked about it in the last hours, or has just marked it (decisions 15.38).
 */
export const atStation = computed<Station | null>(() => {
  // Followed: time passes.
  void now.value;
  const at = position.value;
  if (at === null || at.accM > withinM || Date.now() - foundAt > positionGoodMs) return null;
  if (config.value?.reports_enabled !== true) return null;
  let nearest: Station | null = null;
  let nearestM = withinM;
  for (const station of stations.value.values()) {
    const far = distanceM(at, station);
    if (far <= nearestM) [nearest, nearestM] = [station, far];
  }
  const isQuiet = nearest !== null && (asked.of(nearest.id) ?? cooldowns.of(nearest.id)) !== null;
  return isQuiet ? null : nearest;
});

/** The question about that station has an answer, or was put away. */
export const noteAsked = (stationId: string): void =>
  asked.keep(stationId, { untilMs: Date.now() + quietMs });
