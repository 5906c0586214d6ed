import { cityName } from "#src/contract/city-name.ts";
import { corrected, fitOf } from "#web/widget/spelling.ts";
import { ask, type City, type Station } from "#web/widget/api.ts";
import { expire, passes } from "#web/widget/filters.ts";
import { heldStations, stations } from "#web/widget/loader.ts";
import { searchCities, searchStations } from "#web/widget/offline/held-search.ts";
import { nameOf, wrapLon } from "#web/widget/rectangles.ts";
import { cities, config, filters, now, view } from "#web/widget/state.ts";
import { stationName } from "#web/widget/station-name.ts";
import { language, words } from "#web/widget/words.ts";

export type Found = { id: string; title: string; under: string } & (
  | { kind: "city"; city: City }
  | { kind: "station"; station: Station }
);

/** Known before any station is. */
const usualBrands = [
  ...["Лукойл", "Газпромнефть", "Газпром", "Роснефть", "Татнефть", "Башнефть", "Сургутнефтегаз"],
  ...["Нефтьмагистраль", "Трасса", "ТНК", "Teboil", "Shell"],
];
const citiesShown = 4;
const stationsShown = 8;
// Degrees around the middle of the view in which stations are looked for.
const reach = { lat: 2, lon: 4 };

/**
 * Cities whose name holds `text`, then stations around the view in whose name, brand or address every word of it
 * occurs, the nearest first: the API's own search (docs/contract.md 4.1 and 4.5), with the viewer's filters.
 */
export async function search(text: string, signal: AbortSignal): Promise<Found[]> {
  const [cities, stations] = await Promise.all([citiesOf(text, signal), stationsOf(text, signal)]);
  return [
    ...cities.map((city): Found => ({
      kind: "city",
      id: `c:${city.name}:${city.lat}:${city.lon}`,
      title: cityName(language, city.name),
      under: city.region,
      city,
    })),
    ...stations.slice(0, stationsShown).map((station): Found => ({
      kind: "station",
      id: station.id,
      title: stationName(station),
      under: [words.statuses[station.fuel.status], station.addr].filter(Boolean).join(" · "),
      station,
    })),
  ];
}

/** Cities by the API's search; when it finds none, cities in other letters or with one typo (decisions 15.30). */
async function citiesOf(text: string, signal: AbortSignal): Promise<readonly City[]> {
  const q = encodeURIComponent(text);
  const told = await ask<{ cities: City[] }>(`/cities?limit=${citiesShown}&q=${q}`, { signal });
  const found =
    told.kind === "ok" ? told.body.cities : searchCities(cities.value, text).slice(0, citiesShown);
  if (found.length > 0) return found;
  return cities.value
    .map((city) => ({ city, fit: fitOf(text, city.name) }))
    .filter(({ fit }) => fit !== null)
    .sort((a, b) => a.fit! - b.fit! || b.city.population - a.city.population)
    .slice(0, citiesShown)
    .map(({ city }) => city);
}

async function stationsOf(text: string, signal: AbortSignal): Promise<readonly Station[]> {
  const here = view.value ?? { lat: 0, lon: 0 };
  const find = async (q: string): Promise<readonly Station[]> => {
    const path = `/stations?${area()}&sort=distance&q=${encodeURIComponent(q)}${filterQuery()}`;
    const told = await ask<{ stations: Station[] }>(path, { signal });
    if (told.kind === "ok") return told.body.stations;
    return told.kind === "aborted" ? [] : searchStations(heldAndShown(), q, here);
  };
  const found = await find(text);
  const other = found.length > 0 ? null : corrected(text, knownNames());
  return other === null || signal.aborted ? found : find(other);
}

/** Brands of the country, and names of stations on the map. */
function* knownNames(): Iterable<string> {
  yield* usualBrands;
  for (const { brand, name } of stations.value.values()) {
    yield brand;
    if (name !== brand) yield name;
  }
}

/** All stations in memory that pass the viewer's filters now. */
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
