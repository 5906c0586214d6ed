import { type Grade, parseGrade } from "#src/domain/vocabulary.ts";
import type { Language } from "#src/contract/language.ts";

export type ThemeChoice = "light" | "dark" | "auto";

/** The parameters of docs/contract.md 4.11 as they are understood, and those of decisions 15.17. */
export interface Params {
  key: string;
  city: string;
  /** The station whose card is open at the start; empty: none. */
  station: string;
  point: { lat: number; lon: number; zoom: number } | null;
  theme: ThemeChoice;
  fuel: Grade | null;
  showFilter: boolean;
  showSearch: boolean;
  themeLocked: boolean;
  /** Whether the page around keeps the wheel and one finger. */
  gestures: "cooperative" | "greedy";
  /** Null: the viewer's. */
  language: Language | null;
  /** Six hexadecimal digits in small letters; null: the map's own. */
  accent: string | null;
}

const zoomDefault = 12;
const cityMax = 120;

/**
 * Reads the map's address. A parameter that cannot be understood gets its default, and a sentence in `warnings`.
 *
 * @param framed whether the map stands in another page's iframe
 */
export function parseParams(
  search: string,
  framed: boolean,
): { params: Params; warnings: string[] } {
  const given = new URLSearchParams(search);
  const warnings: string[] = [];
  const text = (name: string): string => (given.get(name) ?? "").trim();
  const ignore = (name: string, expected: string): void => {
    warnings.push(`Parameter "${name}" is ignored: it should be ${expected}.`);
  };

  const oneOf = <const T extends string, F>(
    name: string,
    known: readonly T[],
    fallback: F,
  ): T | F => {
    const value = text(name);
    const found = known.find((one) => one === value.toLowerCase());
    if (found === undefined && value !== "") ignore(name, known.join(", "));
    return found ?? fallback;
  };
  const isOn = (name: string): boolean => {
    const value = text(name);
    if (value !== "" && value !== "1" && value !== "0") ignore(name, "1");
    return value === "1";
  };
  const number = (name: string, min: number, max: number): number | null => {
    const value = text(name);
    if (value === "") return null;
    const parsed = Number(value);
    if (Number.isFinite(parsed) && parsed >= min && parsed <= max) return parsed;
    ignore(name, `a number ${min} to ${max}`);
    return null;
  };

  const [lat, lon] = [number("lat", -90, 90), number("lon", -180, 180)];
  if ((lat === null) !== (lon === null) && (text("lat") === "" || text("lon") === ""))
    ignore(lat === null ? "lon" : "lat", "given together with the other coordinate");
  const zoom = number("zoom", 0, 22) ?? zoomDefault;
  const fuel = parseGrade(text("fuel")) ?? null;
  if (fuel === null && text("fuel") !== "") ignore("fuel", "92, 95, 98, 100 or ДТ");
  const city = text("city");
  if (city.length > cityMax) ignore("city", `at most ${cityMax} characters`);

  const accent = text("accent").toLowerCase().replace(/^#/, "");
  const isColour = /^[0-9a-f]{6}$/.test(accent);
  if (!isColour && accent !== "") ignore("accent", "a colour of six hexadecimal digits");

  const isId = /^[\w-]{1,64}$/.test(text("station"));
  if (!isId && text("station") !== "") ignore("station", "a station's id");

  const params: Params = {
    key: text("key"),
    city: city.length > cityMax ? "" : city,
    station: isId ? text("station") : "",
    point: lat === null || lon === null ? null : { lat, lon, zoom },
    theme: oneOf("theme", ["light", "dark", "auto"], "auto"),
    fuel,
    showFilter: !isOn("nofilter"),
    showSearch: !isOn("nosearch"),
    themeLocked: isOn("themelock"),
    gestures: oneOf("gestures", ["cooperative", "greedy"], framed ? "cooperative" : "greedy"),
    language: oneOf("lang", ["ru", "en"], null),
    accent: isColour ? accent : null,
  };
  return { params, warnings };
}
