import { effect } from "@preact/signals";
import { type City, serverNow, setServerNow } from "#web/widget/api.ts";
import { heldParts, type Loaded, restoreParts, stations, trouble } from "#web/widget/loader.ts";
import type { Target } from "#web/widget/map-handle.ts";
import { database } from "#web/widget/offline/database.ts";
import { page } from "#web/widget/page.ts";
import { cities, config, view, type WidgetConfig } from "#web/widget/state.ts";

/** The map's state for a start without the service (decisions 15.20). */
interface Kept {
  config: WidgetConfig;
  cities: readonly City[];
  /** The lead of the service's clock over this browser's, ms. */
  aheadMs: number;
  view: Target | null;
}

const quietMs = 1500;
const patienceMs = 3000;
const stationsMax = 6000;

// A partner's map has rectangles of its own: its key may show other things.
const startName = `start ${page.key}`;
const partsName = `parts ${page.key}`;

/** Reads the kept state; null when there is none. */
export async function restore(): Promise<Kept | null> {
  try {
    const db = await database();
    const [start, parts] = await Promise.all([
      db.get("kept", startName),
      db.get("kept", partsName),
    ]);
    if (start === undefined) return null;
    const kept = start as Kept;
    setServerNow(kept.aheadMs);
    restoreParts((parts as Loaded[] | undefined) ?? []);
    if (cities.peek().length === 0) cities.value = kept.cities;
    return kept;
  } catch {
    return null;
  }
}

/** The kept stations, once the service has not answered for a moment. Never resolves when nothing was kept. */
export async function whenSilent(restored: Promise<Kept | null>): Promise<Kept> {
  const kept = await restored;
  if (kept === null) return new Promise(() => {});
  let stop = (): void => {};
  await new Promise<void>((done) => {
    if (!navigator.onLine) done();
    setTimeout(done, patienceMs);
    stop = trouble.subscribe((now) => {
      if (now !== null) done();
    });
  });
  stop();
  return kept;
}

let isForgotten = false;

/** Keeps new data, a moment after it has come. */
export function keepWhatComes(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const keep = (): void => {
    clearTimeout(timer);
    timer = undefined;
    void write();
  };
  effect(() => {
    const isWorth = stations.value.size > 0 || cities.value.length > 0 || view.value !== null;
    if (config.value !== null && isWorth) timer ??= setTimeout(keep, quietMs);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && timer !== undefined) keep();
  });
}

async function write(): Promise<void> {
  const known = config.peek();
  if (known === null || isForgotten) return;
  const at = view.peek();
  const kept: Kept = {
    config: known,
    cities: cities.peek(),
    aheadMs: serverNow() - Date.now(),
    view: at === null ? null : { lat: at.lat, lon: at.lon, zoom: at.zoom },
  };
  try {
    const db = await database();
    await Promise.all([
      db.put("kept", kept, startName),
      db.put("kept", newest(heldParts()), partsName),
    ]);
  } catch {
    // The storage is full or forbidden: there is nothing to start with next time.
  }
}

/** The newest answers that hold so many stations together. */
function newest(parts: readonly Loaded[]): Loaded[] {
  let room = stationsMax;
  const found: Loaded[] = [];
  for (const part of [...parts].sort((a, b) => b.at - a.at)) {
    room -= part.stations.length;
    if (room < 0) break;
    found.unshift(part);
  }
  return found;
}

/** Everything that this browser keeps of the map goes, and nothing more is kept until the next load. */
export async function forgetKept(): Promise<void> {
  isForgotten = true;
  try {
    const db = await database();
    await db.clear("kept");
  } catch {
    // There is none.
  }
  if (!("caches" in window)) return;
  const worker = await navigator.serviceWorker?.getRegistration(page.root).catch(() => undefined);
  await worker?.unregister().catch(() => {});
  const names = await caches.keys().catch(() => []);
  await Promise.all(names.map((name) => caches.delete(name)));
}
