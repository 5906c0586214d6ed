import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { distanceM } from "#src/domain/geo.ts";
import { candidateM } from "#src/import/match-stations.ts";
import { fromGeojson, fromOverpass } from "#src/import/osm-object.ts";
import { stationFrom } from "#src/import/osm-station.ts";
import type { Place } from "#src/import/place-clues.ts";

/** A row of a real file. */
export interface Row extends Place {
  /** The row's key in its file, which the matcher does not see: it labels the pairs. */
  key: string;
  /** The station's number, of OpenStreetMap's `ref`; the matcher does not see it. */
  number?: string;
  city: string;
  motorway?: boolean;
}

const folder = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
export const hasFiles = existsSync(folder);

const text = (name: string): string => readFileSync(join(folder, name), "utf8");

/** Rows of the Italian register that have a price. */
export function italianRegister(): Row[] {
  const lines = (name: string): string[][] =>
    text(name)
      .split("\n")
      .slice(2)
      .filter((line) => line !== "")
      .map((line) => line.split("|"));
  const priced = new Set(lines("it_mimit_20260821_prezzi.csv").map(([id]) => id));
  return lines("it_mimit_20260821_anagrafica.csv").flatMap((fields) => {
    const [id, , brand, kind, name, addr, city, , lat, lon] = fields;
    if (fields.length !== 10 || !priced.has(id)) return [];
    return {
      ...{ id: `r-${id}`, key: id!, lat: Number(lat), lon: Number(lon), name: name!, city: city! },
      ...{ brand: brand === "Pompe Bianche" ? "" : brand!, addr: addr! },
      motorway: kind === "Autostradale",
    };
  });
}

/** Rows of the French register that have a price and a position. */
export function frenchRegister(): Row[] {
  const priced = new Set(
    text("fr_20221012_prix.csv")
      .split(/\r?\n/)
      .map((line) => line.slice(line.lastIndexOf(",") + 1)),
  );
  return text("fr_20221012_stations.csv")
    .split(/\r?\n/)
    .slice(1)
    .flatMap((line) => {
      const fields = line.match(/("([^"]|"")*"|[^,]*)(,|$)/g) ?? [];
      const [id, lat, lon, , pop, addr, city] = fields.map((one) => one.replace(/^"|"?,?$/g, ""));
      if (!priced.has(id!) || !(Number(lat) > 40)) return [];
      const place = {
        id: `r-${id}`,
        key: id!,
        lat: Number(lat),
        lon: Number(lon),
        brand: "",
        name: "",
      };
      return { ...place, addr: addr!, city: city!, motorway: pop === "A" };
    });
}

/** Objects of the extracts of OpenStreetMap, with the station's number, which the matcher does not see. */
export function mapped(name: "ru" | "fi"): Row[] {
  const { elements, features } = JSON.parse(
    text(name === "ru" ? "ru_osm_fuel_16_cities.json" : "fi_nwru_osm_fuel_nodes.geojson"),
  ) as { elements?: unknown[]; features?: unknown[] };
  const read = elements === undefined ? fromGeojson : fromOverpass;
  return (elements ?? features ?? []).flatMap((item) => {
    const object = read(item, "osm");
    if ("refused" in object) return [];
    const station = stationFrom(object);
    if ("refused" in station) return [];
    const { ref = "" } = object.tags;
    const number = typeof ref === "string" ? ref : "";
    return { ...station, key: station.id, number, gas: station.sells === "gas" };
  });
}

/** All pairs of rows at most `reachM` apart, of which `of` is true. */
export function pairsOf(
  rows: readonly Row[],
  of: (a: Row, b: Row) => boolean = () => true,
  reachM = candidateM,
): [Row, Row][] {
  const byLat = rows.toSorted((a, b) => a.lat - b.lat);
  return byLat.flatMap((a, index) => {
    const near: [Row, Row][] = [];
    for (const b of byLat.slice(index + 1)) {
      if (b.lat - a.lat > reachM / 111_000) break;
      if (distanceM(a, b) <= reachM && of(a, b)) near.push([a, b]);
    }
    return near;
  });
}

const sides = [
  /(?<!\p{L})(est|nord|interna)(?!\p{L})/iu,
  /(?<!\p{L})(ovest|ouest|sud|esterna)(?!\p{L})/iu,
];

/** Pairs of motorway stations within 3 km whose texts name opposite sides, moved to be 40 m apart. */
export const carriageways = (rows: readonly Row[]): [Row, Row][] =>
  pairsOf(
    rows.filter(({ motorway }) => motorway),
    (a, b) => {
      const [ours, theirs] = [a, b].map(({ name, addr }) =>
        sides.map((side) => side.test(`${name} ${addr}`)),
      );
      return ours![0] !== ours![1] && theirs![0] !== theirs![1] && ours![0] !== theirs![0];
    },
    3000,
  ).map(([a, b]) => [a, { ...b, lat: a.lat + 40 / 111_195, lon: a.lon }]);
