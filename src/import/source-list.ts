import { readFile } from "node:fs/promises";
import csv from "#src/import/sources/csv.json" with { type: "json" };
import deTankerkoenig from "#src/import/sources/de-tankerkoenig.json" with { type: "json" };
import esGeoportal from "#src/import/sources/es-geoportal.json" with { type: "json" };
import frCsv from "#src/import/sources/fr-prix-carburants-csv.json" with { type: "json" };
import frPrixCarburants from "#src/import/sources/fr-prix-carburants.json" with { type: "json" };
import gbFuelFinder from "#src/import/sources/gb-fuel-finder.json" with { type: "json" };
import gbRetailers from "#src/import/sources/gb-retailers.json" with { type: "json" };
import itMimit from "#src/import/sources/it-mimit.json" with { type: "json" };
import osmGeojson from "#src/import/sources/osm-geojson.json" with { type: "json" };
import osmOverpass from "#src/import/sources/osm-overpass.json" with { type: "json" };
import osm from "#src/import/sources/osm.json" with { type: "json" };
import ptDgeg from "#src/import/sources/pt-dgeg.json" with { type: "json" };
import { wrongFile } from "#src/import/read-text.ts";
import { fields, readSource, type Source } from "#src/import/source.ts";

/** Descriptions that come with Fuelmark; `test/import/sources.test.ts` checks each of them. */
export const shippedSources = [
  itMimit,
  frPrixCarburants,
  frCsv,
  deTankerkoenig,
  esGeoportal,
  gbFuelFinder,
  gbRetailers,
  ptDgeg,
  osm,
  osmOverpass,
  osmGeojson,
] as unknown as readonly Source[];

/** The shipped description of this name. */
export const sourceNamed = (name: string): Source | undefined =>
  shippedSources.find((one) => one.name === name);

/** The description of this name, or that of OSM under this name: an extract's own (decisions 14.3). */
export function describedBy(name = ""): { source: Source; label: string | undefined } {
  const named = sourceNamed(name);
  return { source: named ?? sourceNamed("osm")!, label: named ? undefined : name || undefined };
}

/** By what an operator says what files are: a description by name or file, or the columns of a table. */
export interface Chosen {
  source?: string | undefined;
  map?: string | undefined;
}

/** The description that was chosen; undefined if none was. Throws a wrong-file fault. */
export async function chosenSource({ source, map }: Chosen): Promise<Source | undefined> {
  if (map !== undefined) return sourceFromMap(map, source);
  if (source === undefined) return undefined;
  const named = sourceNamed(source);
  if (named !== undefined || /[./\\]/.test(source)) return named ?? readSourceFile(source);
  throw wrongFile(
    "there is no source of this name",
    `\`operator source list\` has ${shippedSources.map(({ name }) => name).join(", ")}.`,
  );
}

/** The description in a file. Throws a wrong-file fault that names each wrong key. */
export async function readSourceFile(path: string): Promise<Source> {
  const text = await readFile(path, "utf8");
  const read = readSource(parsed(text));
  if ("source" in read) return read.source;
  throw wrongFile(
    `this is no description of a source: ${read.faults.join("; ")}`,
    "docs/sources.md has each key with an example.",
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrongFile(
      `this is no JSON (${(error as Error).message.replaceAll(/\s+/g, " ")})`,
      "A description is a JSON file: `operator source show it-mimit` prints one.",
    );
  }
}

const mapped = [...Object.keys(fields.properties), "fuels"];

/**
 * A description of a CSV whose columns are named by hand: `lat=Latitud,lon=Longitud,id=Code`. Decimal commas are
 * understood. Throws a wrong-file fault for a name that is none of ours.
 */
export function sourceFromMap(map: string, name = "csv"): Source {
  const said = map.replace(/(^|,)\s*addr=/g, "$1address=");
  const pairs = said.split(",").map((pair) => pair.split("=", 2).map((part) => part.trim()));
  const wrong = pairs.filter(
    ([field = "", column = ""]) => !mapped.includes(field) || column === "",
  );
  if (wrong.length > 0)
    throw wrongFile(
      `--map has "${wrong.map((pair) => pair.join("=")).join(",")}"`,
      `Write OURS=COLUMN,… with ours of ${mapped.join(", ")}.`,
    );
  const { fuels, lat, lon, ...plain } = Object.fromEntries(pairs) as Record<string, string>;
  const degrees = (from: string | undefined) => (from === undefined ? {} : { from, decimal: "," });
  const { grades, ...rest } = csv;
  const read = readSource({
    ...{ ...rest, name },
    files: rest.files.map((file) => ({ ...file, has: pairs.map(([, column]) => column) })),
    fields: { ...plain, lat: degrees(lat), lon: degrees(lon) },
    ...(fuels === undefined ? {} : { fuels: { list: fuels }, grades }),
  });
  if ("source" in read) return read.source;
  throw wrongFile(`--map does not do: ${read.faults.join("; ")}`, "id, lat and lon are needed.");
}
