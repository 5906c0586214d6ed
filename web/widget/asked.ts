import { askStation } from "#web/widget/api.ts";
import { grade } from "#web/widget/grade.ts";
import { heldStation } from "#web/widget/loader.ts";
import type { Target } from "#web/widget/map-handle.ts";
import { openCard } from "#web/widget/panels.ts";
import { embedder, tell } from "#web/widget/telling.ts";
import { readWish } from "#web/widget/wishes.ts";

const stationZoom = 15;

/** Does what the frame's own parent asks for, of the origin that the browser has named. Call it when the map is there. */
export function heedPage(goTo: (target: Target) => void): void {
  if (embedder === null) return;
  addEventListener("message", ({ source, origin, data }: MessageEvent<unknown>) => {
    const wish = source === window.parent && origin === embedder ? readWish(data) : null;
    if (wish?.what === "fuel") grade.value = wish.grade;
    else if (wish?.what === "move") goTo(wish.target);
    else if (wish !== null) void openStation(wish.id, goTo);
  });
}

async function openStation(id: string, goTo: (target: Target) => void): Promise<void> {
  const held = heldStation(id);
  const told = held === undefined ? await askStation(id) : null;
  if (told?.kind === "refused" && told.status === 404)
    return tell({ type: "fuelmark:station-unknown", station_id: id });
  const station = told?.kind === "ok" ? told.body.station : held;
  if (station === undefined) return;
  goTo({ lat: station.lat, lon: station.lon, zoom: stationZoom });
  openCard(station);
}
