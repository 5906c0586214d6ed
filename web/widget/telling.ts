import { effect } from "@preact/signals";
import type { ServedStatus, Status } from "#src/domain/vocabulary.ts";
import { page } from "#web/widget/page.ts";
import { selected } from "#web/widget/panels.ts";

/** Messages to the page around the map (decisions 15.17): only facts that the map shows. */
type Told =
  | { type: "fuelmark:ready" }
  | { type: "fuelmark:station-opened"; station_id: string; status: ServedStatus }
  | { type: "fuelmark:mark-sent"; station_id: string; status: Status; outcome: string };

/** Tells it by `postMessage`, to the origin that the browser has named as the embedding page's, and to no other. */
export function tell(what: Told): void {
  if (embedder !== null) window.parent.postMessage(what, embedder);
}

/** Tells of each card that is opened. */
export function tellOfCards(): void {
  let told: string | null = null;
  effect(() => {
    const station = selected.value;
    if (station !== null && station.id !== told)
      tell({
        type: "fuelmark:station-opened",
        station_id: station.id,
        status: station.fuel.status,
      });
    told = station?.id ?? null;
  });
}

const embedder = page.framed ? originOf(document.referrer) : null;

function originOf(address: string): string | null {
  try {
    return new URL(address).origin;
  } catch {
    return null;
  }
}
