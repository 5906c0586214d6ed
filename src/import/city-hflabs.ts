import { placed, type CityLayout } from "#src/import/city-file.ts";
import { cleanText } from "#src/import/clean-text.ts";

const columns = [
  "region_type",
  "region",
  "area_type",
  "area",
  "city_type",
  "city",
  "settlement_type",
  "settlement",
  "fias_id",
  "geo_lat",
  "geo_lon",
  "population",
  "foundation_year",
] as const;

/** The CSV of hflabs/city: Russian cities by FIAS id. */
export const hflabs: CityLayout = {
  delimiter: ",",
  quote: true,
  heading: columns,
  reader: (heading) => {
    const places = new Map(columns.map((name) => [name, heading.indexOf(name)]));
    return (line) => {
      const field = (name: (typeof columns)[number]): string =>
        cleanText(line[places.get(name) ?? -1], 120);
      const id = field("fias_id");
      if (!/^[0-9a-f-]{36}$/i.test(id)) return { wrong: "its fias_id is none" };
      // The last column: a year cut short shows that the file is.
      if (/^\d{1,2}$/.test(field("foundation_year"))) return { wrong: "it is cut off" };
      const name = cityName(field);
      if (name === "") return { refused: "no-name" };
      const place = placed(field("geo_lat"), field("geo_lon"), field("population"));
      if ("refused" in place) return place;
      return {
        id: `hflabs-${id.toLowerCase()}`,
        name,
        region: regionName(field("region_type"), field("region")),
        ...place,
      };
    };
  },
};

/**
 * A town below another town has its name in `settlement`; some towns are entered as districts of type "г", and the
 * federal cities as regions.
 */
function cityName(field: (name: (typeof columns)[number]) => string): string {
  if (field("settlement") !== "") return field("settlement");
  if (field("city") !== "") return field("city");
  if (field("area_type") === "г" && field("area") !== "") return field("area");
  return field("region_type") === "г" ? field("region") : "";
}

/** "обл", "Московская" → "Московская область", as people write it. */
function regionName(type: string, region: string): string {
  const name = region
    .replace(/\s*\/(.+?)\/\s*/, " ($1)")
    .replace(/\s+-\s+/g, " — ")
    .trim();
  if (/область|округ|республика|край/i.test(name)) return name;
  if (type === "Респ") return name.endsWith("ская") ? `${name} Республика` : `Республика ${name}`;
  const words: Record<string, string> = {
    обл: "область",
    край: "край",
    АО: "автономный округ",
    Аобл: "автономная область",
  };
  const word = words[type];
  return word === undefined ? name : `${name} ${word}`;
}
