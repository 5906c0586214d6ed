import { placed, type CityLayout } from "#src/import/city-file.ts";
import { cleanText } from "#src/import/clean-text.ts";

// Parts of cities, and places where nobody lives any more.
const otherPlaces = new Set(["PPLX", "PPLH", "PPLQ", "PPLW", "PPLCH"]);

/** A GeoNames dump (cities15000.txt, RU.txt): 19 columns by tabs, no heading, quotes mean nothing. */
export const geonames: CityLayout = {
  delimiter: "\t",
  quote: false,
  heading: null,
  reader: () => (line) => {
    const [
      id = "",
      name = "",
      ,
      ,
      lat = "",
      lon = "",
      featureClass,
      featureCode = "",
      ,
      ,
      admin1 = "",
    ] = line;
    if (line.length !== 19 || !/^\d{1,12}$/.test(id))
      return { wrong: "it is not 19 columns of GeoNames" };
    // The last column: a date cut short shows that the file is.
    if (!/^\d{4}-\d{2}-\d{2}$/.test(line[18] ?? "")) return { wrong: "it is cut off" };
    if (featureClass !== "P") return { refused: "not-a-city" };
    if (otherPlaces.has(featureCode)) return { refused: "not-a-city-of-today" };
    const shown = cleanText(name, 120);
    if (shown === "") return { refused: "no-name" };
    const place = placed(lat, lon, line[14] ?? "");
    if ("refused" in place) return place;
    return { id: `geonames-${id}`, name: shown, region: cleanText(admin1, 120), ...place };
  },
};
