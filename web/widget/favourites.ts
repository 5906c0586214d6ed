import { computed, signal } from "@preact/signals";
import { findStation, type Station } from "#web/widget/api.ts";
import { recall, remember } from "#web/kit/storage.ts";
import { stations } from "#web/widget/loader.ts";

/** The parts of a station that the device keeps: enough to list it without the service. */
type Kept = Pick<Station, "id" | "lat" | "lon" | "brand" | "name" | "addr">;

const stored = "favourites";
/** Each is asked for by itself. */
export const favouritesMax = 20;

/** The driver's own stations (decisions 15.29), those that were chosen last first. They leave no device. */
export const favourites = signal<readonly Kept[]>(read());
// Another tab has changed them.
addEventListener("storage", ({ key }) => {
  if (key === stored) favourites.value = read();
});
/** The favourites as the service has answered them. */
const told = signal<ReadonlyMap<string, Station>>(new Map());

/** The favourites with a status that is known here, from the map or asked for. */
export const knownFavourites = computed<readonly Station[]>(() =>
  favourites.value.flatMap(
    ({ id }) => stations.value.get(id) ?? told.value.get(id) ?? ([] as Station[]),
  ),
);
/** Favourites without a known station just now. */
export const silentFavourites = computed<readonly Kept[]>(() => {
  const known = new Set(knownFavourites.value.map(({ id }) => id));
  return favourites.value.filter(({ id }) => !known.has(id));
});

export const isFavourite = (id: string): boolean => favourites.value.some((one) => one.id === id);

export function toggleFavourite({ id, lat, lon, brand, name, addr }: Kept): void {
  const others = favourites.peek().filter((one) => one.id !== id);
  const chosen = isFavourite(id) ? others : [{ id, lat, lon, brand, name, addr }, ...others];
  keep(chosen.slice(0, favouritesMax));
}

/** Asks how the favourites are. */
export async function loadFavourites(): Promise<void> {
  await Promise.all(
    favourites.peek().map(async ({ id }) => {
      const station = await findStation(id);
      if (station !== null && station !== "unknown")
        told.value = new Map(told.peek()).set(id, station);
    }),
  );
}

export function forgetFavourites(): void {
  favourites.value = [];
  told.value = new Map();
  remember(stored, null);
}

function keep(chosen: readonly Kept[]): void {
  favourites.value = chosen;
  remember(stored, chosen.length === 0 ? null : JSON.stringify(chosen));
}

function read(): Kept[] {
  try {
    const known = JSON.parse(recall(stored) ?? "[]") as unknown;
    return Array.isArray(known)
      ? (known as Kept[]).filter((one) => typeof one?.id === "string").slice(0, favouritesMax)
      : [];
  } catch {
    return [];
  }
}
