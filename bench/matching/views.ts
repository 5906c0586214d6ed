import type { Random } from "#demo/country/random.ts";
import type { Row } from "#bench/matching/sets.ts";

/** How the second source sees the stations of a file: made noise, over real rows and their real neighbours. */
export const noise = {
  /** Rows that only one of the two sources has. */
  missing: 0.12,
  /** Metres by which positions differ, with their share in %: a pump, an area's middle, an address that was geocoded. */
  moved: [
    [12, 75],
    [35, 15],
    [75, 10],
  ],
  /** As in the Russian extract of OpenStreetMap: 36 % without brand, 10 % without name, 65 % without address. */
  noBrand: 0.36,
  noName: 0.1,
  noAddress: 0.65,
} as const;

const spellings: Record<string, readonly string[]> = {
  "Agip Eni": ["Eni", "ENI", "Agip"],
  "Api-Ip": ["IP", "Api", "IP Matic"],
  Q8: ["Q8", "Q8 Easy"],
  Esso: ["ESSO", "Esso Express"],
  Газпромнефть: ["Газпром Нефть", "Gazpromneft"],
  Лукойл: ["Lukoil", "ЛУКОЙЛ"],
  Роснефть: ["Rosneft", "РОСНЕФТЬ"],
  Neste: ["NESTE", "Neste Oil"],
};

/** Two sources of one country: the rows as they are, and as another source would have them. */
export function twoViews(rows: readonly Row[], random: Random): { ours: Row[]; theirs: Row[] } {
  const seen = (): boolean => !random.chance(noise.missing);
  return {
    ours: rows.filter(seen),
    theirs: rows.filter(seen).map((row) => otherView(row, random)),
  };
}

function otherView(row: Row, random: Random): Row {
  const metres = random.weighted(noise.moved);
  const [north, east] = gaussian(random);
  const brand = random.chance(noise.noBrand)
    ? ""
    : random.pick(spellings[row.brand] ?? [row.brand]);
  const shown = random.chance(0.7) ? brand || row.brand : row.name.toLowerCase();
  return {
    ...row,
    id: `o${row.id}-x`,
    lat: row.lat + (north * metres) / 111_195,
    lon: row.lon + (east * metres) / (111_195 * Math.cos((row.lat * Math.PI) / 180)),
    brand,
    name: random.chance(noise.noName) ? "" : shown,
    operator: "",
    ...(random.chance(noise.noAddress) ? { addr: "", city: "" } : respelled(row)),
  };
}

/** "VIA PETRARCA S.N. 92100" → "Via Petrarca". */
const respelled = ({ addr, city }: Row): Pick<Row, "addr" | "city"> => ({
  addr: addr
    .toLowerCase()
    .replace(/\b(s\.?n\.?c?\.?|\d{5})(?=\s|$)/g, " ")
    .replace(/\bkm\b.*/, "")
    .replace(/^v\.le\b/, "viale")
    .trim(),
  city: city.toLowerCase(),
});

const gaussian = (random: Random): [number, number] => {
  const length = Math.sqrt(-2 * Math.log(1 - random.next()));
  const angle = 2 * Math.PI * random.next();
  return [length * Math.cos(angle), length * Math.sin(angle)];
};
