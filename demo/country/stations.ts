import { type Grade, gradesText } from "#src/domain/vocabulary.ts";
import { demoCities, type DemoCity } from "#demo/country/cities.ts";
import { createRandom, type Random } from "#demo/country/random.ts";
import { distanceM, type Point } from "#src/domain/geo.ts";
import type { StationRow } from "#src/feed/feed.ts";

export interface DemoStation extends StationRow {
  /** Index of the city it belongs to. */
  city: number;
}

const roadShare = 0.28;
// Farther cities may have a strait or a mountain range between them.
const longestRoadM = 450_000;

/** About 10,000 stations in and between the demo cities, by population; the same for the same random. */
export function makeStations(random: Random, total = 10_000): DemoStation[] {
  // Small towns have more stations a head than capitals.
  const weights = demoCities.map(({ population }, index) => [index, population ** 0.75] as const);
  const roads = nearestCities();
  const stations: DemoStation[] = [];
  for (let number = 1; number <= total; number += 1) {
    const index = random.weighted(weights);
    const home = demoCities[index] as DemoCity;
    const others = roads[index] ?? [];
    const place =
      others.length > 0 && random.chance(roadShare)
        ? onRoad(random, home, others)
        : inTown(random, home);
    const brand = random.weighted(brands);
    const label = random.chance(0.6) ? `АЗС № ${random.int(1, 480)}` : "";
    const name = [brand, label].filter(Boolean).join(" ") || "АЗС";
    const id = `demo-${String(number).padStart(5, "0")}`;
    stations.push({
      id,
      ...place,
      brand,
      name,
      city: index,
      grades_sold: gradesText(assortment(id)),
      opening_hours: hoursOf(id),
    });
  }
  return stations;
}

/** The grades that a station sells; the same at each call, so that it need not be stored. */
export function assortment(stationId: string): Grade[] {
  const random = createRandom(Number(stationId.replace(/\D/g, "")) * 7919);
  const all: readonly (readonly [Grade, number])[] = [
    ["92", 0.95],
    ["95", 0.98],
    ["98", 0.25],
    ["100", 0.4],
    ["ДТ", 0.85],
  ];
  const sold = all.filter(([, share]) => random.chance(share)).map(([grade]) => grade);
  return sold.length > 0 ? sold : ["95"];
}

/** Most stations on roads never close; of a tenth nobody knows the hours. */
function hoursOf(stationId: string): string {
  const random = createRandom(Number(stationId.replace(/\D/g, "")) * 6007);
  return random.weighted([
    ["24/7", 60],
    ["Mo-Su 06:00-23:00", 20],
    ["Mo-Fr 07:00-21:00; Sa,Su 08:00-20:00", 10],
    ["", 10],
  ]);
}

// Invented; none is meant to be a real chain.
const brands: readonly (readonly [string, number])[] = [
  ["Меридиан", 18],
  ["Тракт", 14],
  ["Полярис Ойл", 12],
  ["Кедр", 10],
  ["Заряница", 8],
  ["Стожары", 7],
  ["Норд-Лайн", 6],
  ["Верстовой", 5],
  ["Русич Петрол", 5],
  ["Октан Плюс", 4],
  ["Магнолия", 3],
  ["Степной", 3],
  ["", 5],
];

const streets = [
  "улица Ленина",
  "улица Мира",
  "проспект Победы",
  "улица Гагарина",
  "Советская улица",
  "Заводская улица",
  "улица Кирова",
  "Московское шоссе",
  "Объездная улица",
  "улица Строителей",
  "Промышленная улица",
  "улица Чехова",
  "проспект Космонавтов",
  "Северная улица",
  "Южное шоссе",
  "улица Пушкина",
  "Вокзальная улица",
  "улица Лермонтова",
  "Набережная улица",
  "улица Энергетиков",
  "Транспортная улица",
  "Полевая улица",
  "улица Маяковского",
  "Окружное шоссе",
] as const;

type Place = Pick<StationRow, "lat" | "lon" | "addr">;

function inTown(random: Random, home: DemoCity): Place {
  const reachM = 900 * Math.sqrt(home.population / 10_000) * 0.62 + 1500;
  // The square root spreads points evenly over a disc; the power pulls them towards the centre a little.
  const point = aside(home, reachM * random.next() ** 0.6, bearingOnLand(random, home));
  const number = `${random.int(1, 190)}${random.chance(0.2) ? random.pick(["А", "Б", "к1", "к2"]) : ""}`;
  return { ...point, addr: `${random.pick(streets)}, ${number}, ${home.name}` };
}

function onRoad(random: Random, home: DemoCity, others: readonly DemoCity[]): Place {
  const other = random.pick(others);
  const lengthM = distanceM(home, other);
  // Most travellers tank near the towns.
  const share = random.chance(0.6) ? random.between(0.04, 0.3) : random.between(0.3, 0.5);
  const along = {
    lat: home.lat + (other.lat - home.lat) * share,
    lon: home.lon + (other.lon - home.lon) * share,
  };
  const point = aside(along, random.between(0, 900), random.between(0, 360));
  const km = Math.max(1, Math.round((lengthM * share * 1.15) / 1000));
  return { ...point, addr: `трасса ${home.name} — ${other.name}, ${km}-й км` };
}

/** The two nearest cities of each that a road without a sea between may lead to. */
function nearestCities(): DemoCity[][] {
  return demoCities.map((home) =>
    demoCities
      .filter(
        (other) =>
          other !== home &&
          distanceM(home, other) < longestRoadM &&
          !isWater(home, bearing(home, other)) &&
          !isWater(other, bearing(other, home)),
      )
      .sort((a, b) => distanceM(home, a) - distanceM(home, b))
      .slice(0, 2),
  );
}

function bearingOnLand(random: Random, home: DemoCity): number {
  for (;;) {
    const degrees = random.between(0, 360);
    if (!isWater(home, degrees)) return degrees;
  }
}

function isWater({ water }: DemoCity, degrees: number): boolean {
  if (water === undefined) return false;
  const [from, to] = water;
  return from <= to ? degrees >= from && degrees <= to : degrees >= from || degrees <= to;
}

const metresPerDegree = 111_195;
const radians = Math.PI / 180;

function bearing(from: Point, to: Point): number {
  const east = (to.lon - from.lon) * Math.cos(from.lat * radians);
  return (Math.atan2(east, to.lat - from.lat) / radians + 360) % 360;
}

/** A point some metres from another; good enough over the width of a city. */
export function aside({ lat, lon }: Point, metres: number, degrees: number): Point {
  const north = (metres * Math.cos(degrees * radians)) / metresPerDegree;
  const east = (metres * Math.sin(degrees * radians)) / (metresPerDegree * Math.cos(lat * radians));
  const round = (value: number): number => Math.round(value * 1e6) / 1e6;
  return { lat: round(lat + north), lon: round(lon + east) };
}
