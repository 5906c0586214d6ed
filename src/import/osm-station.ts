import { decode } from "html-entities";
import type { Refused } from "#src/import/file-import.ts";
import type { Point } from "#src/domain/geo.ts";
import type { Grade } from "#src/domain/vocabulary.ts";
import { brandKey, firmName } from "#src/import/brand-key.ts";
import { brandOfName, isNoBrand, type KnownBrand } from "#src/import/brand-names.ts";
import { cleanText, repairLookalikes } from "#src/import/clean-text.ts";
import type { OsmObject, Tags } from "#src/import/osm-object.ts";
import { hoursText, soldFrom } from "#src/import/osm-sold.ts";
import { remembered } from "#src/infrastructure/lists.ts";

/** An object of a file that may become a station, or a part of one. */
export interface ImportedStation extends Point {
  id: string;
  /** The source's own id, as it writes it, where `id` is not that. */
  own?: string;
  /** The mapped brand, cleaned; "" without one. Its final spelling depends on the whole file. */
  brand: string;
  name: string;
  operator: string;
  addr: string;
  /** True for an address down to the street, false for a town alone. */
  street: boolean;
  city: string;
  /** Fuels by its own tags: petrol or diesel, only gas, or unknown. */
  sells: "petrol" | "gas" | "unsaid";
  /** Our grades that it sells; null where the source does not say. */
  grades_sold: readonly Grade[] | null;
  /** As OSM writes them ("Mo-Fr 06:00-22:00"); "" where the source does not say. */
  opening_hours: string;
  /** Closed for now, as it is stored (`closureIn`); absent for no. */
  closed?: string;
  /** Its ids in other registers. */
  refs?: readonly string[];
  /** Its place in the file, for refusals: "line 12". */
  place?: string;
}

/** The station in an object of a file, or the reason why it is no filling station for cars. */
export function stationFrom({ id, own, lat, lon, tags }: OsmObject): ImportedStation | Refused {
  const reason = outOfUse(tags) ?? (tags["amenity"] === "fuel" ? null : "not-a-fuel-station");
  if (reason !== null) return { refused: reason, about: { id: own ?? id } };
  const brand = brandFrom(tags["brand"], { lat, lon });
  const name = text(tags["name"], 120);
  const { addr, street, city } = addressFrom(tags);
  const operator = firmName(text(tags["operator"], 120));
  const { sells: tagged, grades_sold } = soldFrom(tags);
  const sells = tagged === "unsaid" && isGasName(name) ? "gas" : tagged;
  const refs: string[] = [];
  for (const key in tags) if (key.startsWith("ref:")) refs.push(...refsIn(tags[key]));
  const opening_hours = hoursText(tags["opening_hours"]);
  // One literal: an object that is put together from others takes three times the memory, and a file has 300,000.
  const station: ImportedStation = {
    id,
    lat,
    lon,
    brand,
    name,
    operator,
    addr,
    street,
    city,
    sells,
    grades_sold,
    opening_hours,
    place: "",
  };
  if (own !== undefined) station.own = own;
  return refs.length === 0 ? station : { ...station, refs };
}

/** The brand and name that are shown. `brands` gives the spelling that other stations use for a key. */
export function shownNames(
  station: ImportedStation,
  brands: ReadonlyMap<string, string>,
  known: KnownBrand,
): { brand: string; name: string } {
  const spell = (one: string): string => known(one, station) ?? brands.get(brandKey(one)) ?? one;
  const { name } = station;
  const brand =
    station.brand !== ""
      ? spell(station.brand)
      : (brandOfName(name, station, known) ?? brands.get(brandKey(name)) ?? "");
  return { brand, name: name || brand || station.operator };
}

const refsIn = (value: unknown): string[] => text(value, 200).match(/[^\s;,]+/g) ?? [];

/** A text of a file, cleaned. Exports through web pages leave `&amp;` and even `&amp;quot;` in names. */
export const text = (value: unknown, maxLength: number): string => {
  const written = typeof value === "string" && value.includes("&") ? decode(decode(value)) : value;
  return repairLookalikes(cleanText(written, maxLength));
};

/** The brand in a source's text, "" for words that mean none. */
export function brandFrom(value: unknown, at: Point, country?: string): string {
  // OSM joins several values by semicolons; the first one is on the station's sign.
  const brand = firmName(text(value, 200).split(";")[0] ?? "");
  return isNoBrand(brand, at, country) ? "" : cleanText(brand, 80);
}

const gasNames = /(?<!\p{L})(АГЗС|АГНКС|ГАЗС|пропан|метан|LPG|CNG)(?!\p{L})/iu;

const isGasName = (name: string): boolean =>
  gasNames.test(name) && !/(?<!\p{L})АЗС(?!\p{L})/iu.test(name);

const addressFrom = (tags: Tags): Address =>
  addressOf({
    full: tags["addr:full"],
    road: tags["addr:street"] ?? tags["addr:place"],
    number: tags["addr:housenumber"],
    city: tags["addr:city"],
  });

const cityText = remembered((city) => text(city, 80));

type Address = Pick<ImportedStation, "addr" | "street" | "city">;

/** "улица Мира, 5, Омск" or "Kaskentie 2, Turku"; a full address unchanged; else the town, or "". */
export function addressOf(parts: Record<"full" | "road" | "number" | "city", unknown>): Address {
  const city = typeof parts.city === "string" ? cityText(parts.city) : text(parts.city, 80);
  const full = text(parts.full, 200);
  const road = text(parts.road, 120);
  if (road === "")
    return full === "" ? { addr: city, street: false, city } : { addr: full, street: true, city };
  const number = text(parts.number, 30);
  const between = /\p{Script=Cyrillic}/u.test(road) ? ", " : " ";
  const line = number === "" ? road : road + between + number;
  return { addr: cleanText(city === "" ? line : `${line}, ${city}`, 200), street: true, city };
}

const lifeCycle = {
  "not-yet-open": ["construction", "proposed", "planned"],
  disused: ["disused", "abandoned", "was", "demolished", "removed", "razed", "ruins"],
};
/** Made once: keys that are put together for each object take as long as the rest. */
const notNow = Object.entries(lifeCycle).flatMap(([reason, prefixes]) =>
  prefixes.map((prefix) => [reason, prefix, `${prefix}:amenity`] as const),
);
const isAny = (value: unknown, one: string, other: string): boolean =>
  value === one || value === other;

/**
 * Why no driver can fill up at an object of OpenStreetMap, though it is or was a filling station: the name of the reason
 * that a refusal gives. Null for an ordinary station.
 */
function outOfUse(tags: Tags): string | null {
  const isNow = tags["amenity"] === "fuel";
  for (const [reason, key, ofAmenity] of notNow)
    if (isAny(tags[key], "yes", "fuel") || (!isNow && tags[ofAmenity] === "fuel")) return reason;
  const isForBoats = isAny(tags["boat"], "yes", "designated") && tags["motor_vehicle"] === "no";
  if (isForBoats || (!isNow && tags["waterway"] === "fuel")) return "boats-only";
  if (!isNow && tags["aeroway"] === "fuel") return "aircraft-only";
  if (/^(private|no|permit|employees|residents|military)$/.test(String(tags["access"])))
    return "not-public";
  if (/^(24\/7 |Mo-Su )?(closed|off)( "[^"]*")?$/.test(String(tags["opening_hours"]).trim()))
    return "closed";
  return null;
}
