import { createRequire } from "node:module";
import type { opening_hours } from "opening_hours";
import type { Point } from "#src/domain/geo.ts";
import { remembered } from "#src/infrastructure/lists.ts";
import { territoriesOf } from "#src/stations/territories.ts";

const load = createRequire(import.meta.url);

const listed = (text: string): ReadonlyMap<string, string[]> =>
  new Map(
    text
      .split(";")
      .map((line) => line.trim().split(/\s+/))
      .map(([land, ...of]) => [land!, of]),
  );

/** Regions with holidays of their own, "-" for all others: names where the library's codes lead to another spelling. */
const regions =
  listed(`AU act nsw nt qld sa tas vic wa; CA ab bc mb nb nl nt ns nu on pe qc sk yt; CN - xz; FR - 67 57;
  BR ac al ap am ba ce df es go ma mt ms mg pa pb pr pe pi rj rn rs ro rr sc sp se to; GB eng sct wls nir;
  CH Aargau Schwyz Neuenburg Tessin Jura Appenzell_Innerrhoden Obwalden Glarus Genf;
  DE bw be bb by hb hh he mv ni nw rp sl sn st sh th; ES Andalucía Illes_Balears Galicia Cataluña Aragón Castilla_y_León
  Comunidad_de_Madrid Castilla-La_Mancha La_Rioja Cantabria País_Vasco Ceuta Asturias Extremadura Melilla;
  RU - adygea bashkortostan bryansk dagestan ingushetia kabardino_balkaria kalmykia karachay_cherkess udmurtia altai
  buryatia karelia komi sakha tuva saratov tatarstan chechnya chuvashia; US al ak az ar ca co ct de dc fl ga hi id il in ia
  ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri sc sd tn tx ut vt va wa wv wi wy`);

/** Territories with a table of their own, and those that are a region in their country's. Others have none. */
const own = "GG GI IM JE NF PM SJ".split(" ");
const inner = "AS BL GF GP GU MF MQ NC PF PR RE VI WF YT".split(" ");

/** Days of each year, or of one, of which opening_hours 3.15.0 is known to be wrong (docs/imports.md#what-was-learnt). */
const wrong =
  listed(`BG 12-26 2026-04-11 2026-05-25 2026-09-07 2026-12-28; BY 01-02 01-07; DK 06-05 12-24; GE 05-17;
  CH 12-26 2026-04-03 2026-04-06 2026-05-25 2027-03-26 2027-03-29 2027-05-17; ES 2026-11-02 2026-12-07 2027-08-16;
  CN 01-02..01-03 03-08 05-02..05-05 06-01 10-04..10-08 2026-02-14..2026-02-23 2026-04-04..2026-04-06
  2026-06-19..2026-06-21 2026-09-25..2026-09-27 2027-02-04..2027-02-13 2027-04-03..2027-04-05 2027-06-07..2027-06-11
  2027-09-13..2027-09-17 2028-01-01..9999-12-31; GB-SCT 2026-06-15; GG 2026-08-31 2027-08-30; IM 2026-08-31 2027-08-30;
  JP 2026-09-22; LU 05-09; MD 01-07..01-08 06-01; NL 05-05 2026-04-03 2027-03-26; RS 01-07 2026-04-11;
  RU 2026-01-09 2026-05-11 2026-12-31 2027-02-22 2027-05-03 2027-05-10 2027-06-14 2027-11-05 2027-12-31;
  SK 05-08 09-01 09-15 11-17; UA 01-02..01-04 05-08..05-11 2026-04-13 2026-06-01 2027-05-03 2027-06-21;
  VN 03-08 03-26 06-01 09-01..09-03 11-20 11-24 12-25 2026-02-14..2026-02-22 2026-04-26..2026-04-27
  2027-02-04..2027-02-12 2027-04-16 2028-01-01..9999-12-31`);

/**
 * Whether a day, by the fields of `date`, is a public holiday at a place. Null where nobody knows: the library has no
 * table of the territory, or a wrong one for this day, or not all regions of the country have it (decisions 14.51).
 */
export const isHoliday = (place: Point, date: Date): boolean | null =>
  known(`${territoriesOf(place).join()} ${date.toDateString()}`);

const known = remembered((key: string): boolean | null => {
  const [lands = "", ...words] = key.split(" ");
  const noon = new Date(`${words.join(" ")} 12:00 UTC`);
  const isWrong = (span: string): boolean => {
    const [from = "", to = from] = span.split("..");
    const day = noon.toISOString().slice(10 - from.length, 10);
    return from <= day && day <= to;
  };
  if (lands.split(",").some((land) => wrong.get(land)?.some(isWrong))) return null;
  const local = new Date(`${words.join(" ")} 12:00`);
  const [first, ...others] = tablesOf(lands).map((table) => table.getState(local));
  return first !== undefined && others.every((one) => one === first) ? first : null;
});

/** The library's tables that may hold in lands; none where it has none, which it also writes to stderr. */
const tablesOf = remembered((lands: string): opening_hours[] => {
  const Class = load("opening_hours") as typeof opening_hours;
  const [territory = "", country = territory] = lands.split(",");
  const table = (land: string, region: string): opening_hours => {
    const state = region.replaceAll("_", " ");
    const address = { country_code: land.toLowerCase(), state, "ISO3166-2-lvl4": `XX-${region}` };
    return new Class("PH", { lat: 0, lon: 0, address });
  };
  try {
    if (own.includes(territory)) return [table(territory, "")];
    const [, nation = inner.includes(territory) ? territory : undefined] = territory.split("-");
    if (nation !== undefined) return [table(country, nation)];
    if (territory !== country) return [];
    return (regions.get(country) ?? ["-"]).map((region) => table(country, region));
  } catch {
    return [];
  }
});
