import type { Tags } from "#src/import/basemap/osm-block.ts";

/** The layers of a tile, with the names of the Protomaps schema, which the map's style draws. */
export const layerNames = ["earth", "water", "roads", "boundaries", "places"] as const;
export type LayerName = (typeof layerNames)[number];

/** What is drawn of an object: its layer, and what the style and the labels need to know of it. */
export interface Kind {
  layer: LayerName;
  /** Tiles of lower zooms leave it out. */
  minZoom: number;
  tags: Record<string, string | number | boolean>;
}

/** Keys of tags that something drawn has; an object without them is passed over. */
export const drawnKeys: ReadonlySet<string> = new Set([
  ...["highway", "waterway", "natural", "place", "boundary", "landuse"],
]);

const highways: Readonly<Record<string, [kind: string, minZoom: number]>> = {
  motorway: ["highway", 5],
  trunk: ["major_road", 6],
  primary: ["major_road", 8],
  secondary: ["major_road", 10],
  tertiary: ["major_road", 11],
  motorway_link: ["highway", 11],
  trunk_link: ["major_road", 11],
  primary_link: ["major_road", 11],
  secondary_link: ["major_road", 12],
  tertiary_link: ["major_road", 12],
  unclassified: ["minor_road", 12],
  residential: ["minor_road", 13],
  living_street: ["minor_road", 13],
  road: ["minor_road", 13],
  service: ["minor_road", 14],
};
// Ways on private ground, of which a town has more than streets.
const innerService = new Set(["parking_aisle", "driveway", "drive-through", "emergency_access"]);

/** A road, or null for what no car drives on. */
export function roadKind(tags: Tags): Kind | null {
  const detail = tags["highway"] ?? "";
  const [kind, minZoom] = highways[detail] ?? [];
  if (kind === undefined || minZoom === undefined || tags["area"] === "yes") return null;
  if (detail === "service" && innerService.has(tags["service"] ?? "")) return null;
  const link = detail.endsWith("_link");
  const ref = (tags["ref"] ?? "").split(";")[0]!.trim();
  return {
    layer: "roads",
    minZoom,
    tags: {
      kind,
      kind_detail: link ? detail.slice(0, -"_link".length) : detail,
      // Labels of important roads come first.
      min_zoom: minZoom,
      ...(link ? { is_link: true } : {}),
      ...(truthy(tags["bridge"]) ? { is_bridge: true } : {}),
      ...(truthy(tags["tunnel"]) ? { is_tunnel: true } : {}),
      ...(ref === "" ? {} : { ref, shield_text: ref }),
      ...namesOf(tags),
    },
  };
}

const truthy = (value: string | undefined): boolean => value !== undefined && value !== "no";

/** A river or a canal as a line. */
export function riverKind(tags: Tags): Kind | null {
  const waterway = tags["waterway"];
  if (waterway !== "river" && waterway !== "canal") return null;
  if (truthy(tags["tunnel"])) return null;
  const names = namesOf(tags);
  const minZoom = waterway === "river" ? 9 : 11;
  return { layer: "water", minZoom, tags: { kind: "river", kind_detail: waterway, ...names } };
}

/** The coast as a thin line: what is sea and what is land cannot be told from the lines alone. */
export const coastKind = (tags: Tags): Kind | null =>
  tags["natural"] === "coastline"
    ? { layer: "water", minZoom: 9, tags: { kind: "river", kind_detail: "coastline" } }
    : null;

/** A lake, a reservoir or a river's area; its zoom follows from its size, by `waterZoom`. */
export function waterKind(tags: Tags): Kind | null {
  const isWater =
    tags["natural"] === "water" ||
    tags["waterway"] === "riverbank" ||
    tags["landuse"] === "reservoir";
  if (!isWater) return null;
  const detail = tags["water"] ?? "";
  const kind = detail === "river" || detail === "canal" ? "water" : "lake";
  // A river's name stands along its line.
  return { layer: "water", minZoom: 0, tags: { kind, ...(kind === "lake" ? namesOf(tags) : {}) } };
}

/** From which zoom water of this extent (degrees, the longer side) is drawn: about a pixel before it can be seen. */
export function waterZoom(degrees: number): number {
  const pixels = 3;
  const zoom = Math.ceil(Math.log2((pixels * 360) / (512 * Math.max(degrees, 1e-6))));
  return Math.min(13, Math.max(3, zoom));
}

const places: Readonly<Record<string, [minZoom: number, rank: number]>> = {
  city: [4, 11],
  town: [8, 8],
  village: [11, 5],
};

/** A city, town or village as a point with its name. */
export function placeKind(tags: Tags): Kind | null {
  const detail = tags["place"] ?? "";
  const [least, rank] = places[detail] ?? [];
  if (least === undefined || rank === undefined || tags["name"] === undefined) return null;
  const people = Number(tags["population"]?.replaceAll(/[\s,]/g, "") ?? 0) || 0;
  // Million cities first, so that small ones do not take their place.
  const minZoom = detail === "city" && people < 500_000 ? least + 2 : least;
  return {
    layer: "places",
    minZoom,
    tags: {
      ...{ kind: "locality", kind_detail: detail, min_zoom: minZoom, population: people },
      population_rank: people > 0 ? rankOf(people) : rank,
      ...(tags["capital"] === "yes" ? { capital: "yes" } : {}),
      ...namesOf(tags),
    },
  };
}

/** The schema's steps, from 1 (200 people) to 17 (a thousand million). */
const rankOf = (people: number): number => {
  const steps = [200, 500, 1000, 2000, 5000, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 5e6, 1e7, 5e7];
  return Math.max(1, steps.filter((step) => people >= step).length);
};

/** A border of a country (level 2) or of a region (4). */
export function boundaryKind(tags: Tags): Kind | null {
  if (tags["boundary"] !== "administrative" || tags["maritime"] === "yes") return null;
  const level = Number(tags["admin_level"]);
  if (level !== 2 && level !== 4) return null;
  const kind = level === 2 ? "country" : "region";
  return { layer: "boundaries", minZoom: level === 2 ? 0 : 5, tags: { kind, kind_detail: level } };
}

const scripts: readonly [RegExp, string][] = [
  [/\p{Script=Cyrillic}/u, "Cyrillic"],
  [/\p{Script=Greek}/u, "Greek"],
  [/\p{Script=Arabic}/u, "Arabic"],
  [/\p{Script=Hebrew}/u, "Hebrew"],
  [/\p{Script=Georgian}/u, "Georgian"],
  [/\p{Script=Armenian}/u, "Armenian"],
  [/\p{Script=Han}/u, "Han"],
];

/** The name as it stands on signs, in the two languages of the map, and the letters of the first. */
function namesOf(tags: Tags): Record<string, string> {
  const { name } = tags;
  if (name === undefined) return {};
  const script = scripts.find(([letters]) => letters.test(name))?.[1];
  const own = (language: string): Record<string, string> => {
    const other = tags[`name:${language}`];
    return other === undefined || other === name ? {} : { [`name:${language}`]: other };
  };
  return { name, ...(script === undefined ? {} : { script }), ...own("ru"), ...own("en") };
}
