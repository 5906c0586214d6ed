import { ask, type City, type Station } from "#web/widget/api.ts";
import { expire, passes } from "#web/widget/filters.ts";
import { heldStations } from "#web/widget/loader.ts";
import { searchCities, searchStations } from "#web/widget/offline/held-search.ts";
import { nameOf, wrapLon } from "#web/widget/rectangles.ts";
import { cities as known, config, filters, now, view } from "#web/widget/state.ts";
import { stationName } from "#web/widget/station-name.ts";
import { words } from "#web/widget/words.ts";

export type Found = { id: string; title: string; under: string } & (
  | { kind: "city"; city: City }
  | { kind: "station"; station: Station }
);

const citiesShown = 4;
const stationsShown = 8;
// Degrees around the middle of the view in which stations are looked for.
const reach = { lat: 2, lon: 4 };

/**
 * Cities whose name holds `text`, then stations around the view in whose name, brand or address every word of it
 * occurs, the nearest first: the API's own search (docs/contract.md 4.1 and 4.5), with the viewer's filters.
 */
export async function search(text: string, signal: AbortSignal): Promise<Found[]> {
  const q = encodeURIComponent(text);
  const [cities, stations] = await Promise.all([
    ask<{ cities: City[] }>(`/cities?limit=${citiesShown}&q=${q}`, { signal }),
    ask<{ stations: Station[] }>(`/stations?${area()}&sort=distance&q=${q}${filterQuery()}`, {
      signal,
    }),
  ]);
  const here = view.value ?? { lat: 0, lon: 0 };
  const heldCities = (): City[] =>
    cities.kind === "offline" ? searchCities(known.value, text).slice(0, citiesShown) : [];
  const heldHere = (): Station[] =>
    stations.kind === "offline" ? searchStations(heldAndShown(), text, here) : [];
  return [
    ...(cities.kind === "ok" ? cities.body.cities : heldCities()).map((city): Found => ({
      kind: "city",
      id: `c:${city.name}:${city.lat}:${city.lon}`,
      title: city.name,
      under: city.region,
      city,
    })),
    ...(stations.kind === "ok" ? stations.body.stations : heldHere())
      .slice(0, stationsShown)
      .map((station): Found => ({
        kind: "station",
        id: station.id,
        title: stationName(station),
        under: [words.statuses[station.fuel.status], station.addr].filter(Boolean).join(" · "),
        station,
      })),
  ];
}

/** What this browser holds of all that it has seen, as the viewer's filters let it pass now. */
function* heldAndShown(): Iterable<Station> {
  const lifetimeH = config.value?.stale_after_hours ?? 24;
  for (const station of heldStations().values()) {
    const fuel = expire(station.fuel, now.value, lifetimeH);
    if (passes(fuel, filters.value, now.value)) yield { ...station, fuel };
  }
}

function area(): string {
  const { lat, lon } = view.value ?? { lat: 0, lon: 0 };
  const box = {
    south: Math.max(-90, lat - reach.lat),
    west: wrapLon(lon - reach.lon),
    north: Math.min(90, lat + reach.lat),
    east: wrapLon(lon + reach.lon),
  };
  return `bbox=${nameOf(box)}`;
}

function filterQuery(): string {
  const { grades, statuses, queues, priced, freshH } = filters.value;
  const query = new URLSearchParams({
    ...(grades.length > 0 ? { fuel: grades.join(",") } : {}),
    ...(statuses.length > 0 ? { status: statuses.join(",") } : {}),
    ...(queues.length > 0 ? { queue: queues.join(",") } : {}),
    ...(priced ? { has_price: "true" } : {}),
    ...(freshH === null ? {} : { fresh_h: String(freshH) }),
  }).toString();
  return query === "" ? "" : `&${query}`;
}
