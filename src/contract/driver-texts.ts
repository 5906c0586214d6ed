import type { Point } from "#src/domain/geo.ts";
import { likelyFrom } from "#src/domain/grade-answer.ts";
import type { ServedStatus } from "#src/domain/vocabulary.ts";

type Language = "en" | "ru";

// Texts that the map, the list and a station's page share.

/** A price as it stands at a pump: `61,50 ₽`, in English `₽61.50`. `price` is in the API's form. */
export const priceText = (language: Language, price: string): string =>
  language === "ru" ? `${price.replace(".", ",")} ₽` : `₽${price}`;

/** `350 m`, `2.4 km`, `18 km`. */
export function distanceText(language: Language, metres: number): string {
  const [m, km] = language === "ru" ? ["м", "км"] : ["m", "km"];
  if (metres < 995) return `${Math.round(metres / 10) * 10} ${m}`;
  const text = (metres / 1000).toFixed(metres < 9950 ? 1 : 0);
  return `${language === "ru" ? text.replace(".", ",") : text} ${km}`;
}

const russianDays: Record<string, string> = {
  ...{ Mo: "пн", Tu: "вт", We: "ср", Th: "чт", Fr: "пт", Sa: "сб", Su: "вс" },
  ...{ PH: "праздники", off: "закрыто", closed: "закрыто", open: "открыто" },
};

/** Opening hours of OSM for people: `Mo-Fr 06:00-22:00` stays, in Russian `пн-пт 06:00-22:00`; `24/7` in words. */
export function hoursText(language: Language, hours: string): string {
  if (hours === "24/7") return language === "ru" ? "Круглосуточно" : "Open 24 hours";
  // Words of a comment stay as they are.
  if (language === "en" || hours.includes('"')) return hours;
  return hours.replace(/\b[A-Za-z]+\b/g, (word) => russianDays[word] ?? word);
}

const openStreetMap = "© OpenStreetMap contributors";

/** The credit of stations' sources: `Stations: MIMIT, © OpenStreetMap contributors`; "" for nobody. */
export function creditText(language: Language, credits: readonly string[]): string {
  if (credits.length === 0) return "";
  if (language === "en") return `Stations: ${credits.join(", ")}`;
  const names = credits.map((one) => (one === openStreetMap ? "© участники OpenStreetMap" : one));
  return `Станции: ${names.join(", ")}`;
}

/** How likely there is fuel, or a grade of that name, in percent: `Likely has 95 (85%)`. */
export function chanceText(language: Language, chance: number, grade: string | null): string {
  const degree = chance >= likelyFrom ? 0 : chance >= 100 - likelyFrom ? 1 : 2;
  if (language === "en")
    return `${["Likely has", "May have", "Unlikely to have"][degree]} ${grade ?? "fuel"} (${chance}%)`;
  return `${["Скорее всего", "Возможно,", "Вряд ли"][degree]} есть ${grade ?? "топливо"} (${chance}\u00a0%)`;
}

/** A status as a sign in text, where no picture can be. */
export const statusSigns: Record<ServedStatus, string> = {
  yes: "●",
  low: "◐",
  no: "✕",
  queue: "≡",
  nodata: "○",
};

interface RouteLink {
  app: string;
  href: string;
}

const written = ({ lat, lon }: Point): string => `${lat.toFixed(6)},${lon.toFixed(6)}`;

/** Links to the way to a point, for the map applications of phones; on other devices their pages open. */
export function routeLinks(to: Point, language: Language): RouteLink[] {
  const yandex = language === "ru" ? "yandex.ru" : "yandex.com";
  const lonLat = `${to.lon.toFixed(6)},${to.lat.toFixed(6)}`;
  return [
    {
      app: language === "ru" ? "Яндекс Карты" : "Yandex Maps",
      href: `https://${yandex}/maps/?rtext=~${written(to)}&rtt=auto`,
    },
    {
      app: language === "ru" ? "2ГИС" : "2GIS",
      href: `https://2gis.ru/directions/points/%7C${lonLat}`,
    },
    {
      app: "Google Maps",
      href: `https://www.google.com/maps/dir/?api=1&destination=${written(to)}&travelmode=driving`,
    },
    { app: "Apple Maps", href: `https://maps.apple.com/?daddr=${written(to)}&dirflg=d` },
  ];
}

/** The one way that fits the device best. */
export function routeLink(
  to: Point,
  name: string,
  language: Language,
  userAgent: string,
): RouteLink {
  const links = routeLinks(to, language);
  if (opensGeo(userAgent)) return { app: "geo", href: geoLink(to, name) };
  return (/iPhone|iPad|Macintosh/i.test(userAgent) ? links.at(-1) : links[0])!;
}

/** True for Android: only there one address opens any map application that the driver has. */
export const opensGeo = (userAgent: string): boolean => /Android/i.test(userAgent);

/** The point's address for the phone's own choice of application. */
export const geoLink = (to: Point, name: string): string =>
  `geo:${written(to)}?q=${written(to)}(${encodeURIComponent(name)})`;
