import { createRequire } from "node:module";
import zoneAt from "@photostructure/tz-lookup";
import type * as countryCoder from "@rapideditor/country-coder";
import type { Point } from "#src/domain/geo.ts";
import german from "#src/stations/german-states.json" with { type: "json" };

/** Loaded at the first use: it takes 0.1 s, which most processes never need. */
const load = createRequire(import.meta.url);
const coder = (): typeof countryCoder => load("@rapideditor/country-coder");

/** Borders are known less exactly than stations: degrees, about 5 km. */
const margin = 0.05;
/** The Canary Islands, metropolitan France and the like are no territories: their country is meant. */
const levels = new Set(["territory", "country"]);
const nations = { Q21: "GB-ENG", Q22: "GB-SCT", Q25: "GB-WLS", Q26: "GB-NIR" };

/**
 * The ISO 3166 codes of the lands that a point lies in, a territory before its country: RE, FR in Réunion, HK, CN in Hong
 * Kong, GB-SCT, GB in Edinburgh, DE-BY, DE in Munich. Empty at sea.
 */
export function territoriesOf({ lat, lon }: Point): string[] {
  const lands = coder()
    .featuresContaining([lon, lat])
    .filter(({ properties: { level } }) => levels.has(level));
  const codes = lands.flatMap(
    ({ properties: { id, iso1A2 } }) => nations[id as keyof typeof nations] ?? iso1A2 ?? [],
  );
  return codes[0] === "DE" ? [...germanState({ lat, lon }), "DE"] : codes;
}

/** True if a country lies in a continent or a region, by its code in UN M49. */
export const isPartOf = (country: string, region: string): boolean =>
  coder().isIn(country, region) === true;

let grid: string | undefined;

/** By cells of 0.05°, from 47.2° N, 5.8° E to the east and then to the north; none where two states are within 3 km. */
function germanState({ lat, lon }: Point): string[] {
  grid ??= german.runs.replace(/(\d+)(\D)/g, (_, n, cell: string) => cell.repeat(Number(n)));
  const cell = grid[Math.floor((lat - 47.2) * 20) * 186 + Math.floor((lon - 5.8) * 20)] ?? ".";
  const state = german.states.split(" ")["abcdefghijklmnop".indexOf(cell)];
  return state === undefined ? [] : [`DE-${state}`];
}

/** True if a point lies in a country or territory, in a part of it, or within about 5 km of it (decisions 14.50). */
export const isNearCountry = ({ lat, lon }: Point, code: string): boolean =>
  coder()
    .iso1A2Codes([lon - margin, lat - margin, lon + margin, lat + margin])
    .includes(code);

/** The time zone of a place by the IANA list, which this runtime need not know; "" without a place on the globe. */
export const zoneOf = ({ lat, lon }: Point): string =>
  Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? zoneAt(lat, lon) : "";
