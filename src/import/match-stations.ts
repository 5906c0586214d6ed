import { distanceM } from "#src/domain/geo.ts";
import { type Clues, cluesOf, oppositeSides, type Place } from "#src/import/place-clues.ts";

/** Farther apart, two rows are never one station. */
export const candidateM = 150;

export type Verdict = "sure" | "doubtful" | "different";

/** What speaks for and against two rows being one station. */
export interface Comparison {
  verdict: Verdict;
  /** The sum of the weights of `evidence`. */
  score: number;
  distanceM: number;
  evidence: readonly Evidence[];
}

/** What else is near: it changes how much a position says. */
export interface Surroundings {
  /** By how many metres the next candidate for either row is farther; infinite without one. */
  clearM: number;
  /** True if the two sources cover the same country: most stations of the smaller one are in the other. */
  covered: boolean;
  /** True if one of the positions stands for several rows of its source: a geocoded street or town. */
  shared: boolean;
}

/**
 * The weights of the evidence: rounded logarithms (base 2) of how much more often it is found of one station than of
 * two neighbours; settled on labelled pairs (decisions 14.27). `never` forbids the pair.
 */
const weights = {
  "same register id": 9,
  "distance to 15 m": 3,
  "distance to 30 m": 2.5,
  "distance to 50 m": 1.5,
  "distance to 80 m": -0.5,
  "distance to 150 m": -2.5,
  "position of several stations": 0,
  "no other candidate": 3,
  "no other candidate in two full sources": 4.5,
  "clearly the nearest": 1.5,
  "same brand": 2,
  "other brand": -4,
  "same name": 1.5,
  "other name": -1,
  "same number": 4,
  "other number": -6,
  "same street": 1.5,
  "same house": 2.5,
  "other house": -3,
  "other street": -1.5,
  "same town": 0.5,
  "other town": -2,
  "same kilometre": 2,
  "other kilometre": -3,
  "other road": -2,
  "gas beside petrol": -4,
  "motorway, side unknown": -2,
  "opposite sides": -20,
} as const;

export type Evidence = keyof typeof weights;
export const evidenceWords = Object.keys(weights) as Evidence[];

/** From this score on a pair is joined, or shown to a person (decisions 14.27). */
export const sureScore = 4;
export const doubtfulScore = 1.5;

/** Stations of two carriageways are rarely farther apart. */
const clearlyM = 50;

export const noSurroundings: Surroundings = {
  clearM: 0,
  covered: false,
  shared: false,
};

/** Compares two rows of different sources. The order of the two makes no difference. */
export function compareStations(
  a: Place,
  b: Place,
  surroundings = noSurroundings,
  [ours, theirs]: readonly [Clues, Clues] = [cluesOf(a), cluesOf(b)],
): Comparison {
  const metres = distanceM(a, b);
  const evidence = evidenceOf(ours, theirs, Math.max(metres, coarseM(a), coarseM(b)), surroundings);
  if (a.gas !== undefined && b.gas !== undefined && a.gas !== b.gas)
    evidence.push("gas beside petrol");
  const score = evidence.reduce((sum, one) => sum + weights[one], 0);
  const side =
    evidence.includes("motorway, side unknown") && !evidence.includes("same register id");
  const verdict =
    metres > candidateM || score < doubtfulScore
      ? "different"
      : score >= sureScore && !side
        ? "sure"
        : "doubtful";
  return { verdict, score, distanceM: metres, evidence };
}

/** What forbids that two rows with one brand are one station, wherever they are; undefined without it. */
export const contradiction = (a: Place, b: Place): Evidence | undefined =>
  textEvidence(cluesOf(a), cluesOf(b)).find((one) => contradictions.has(one));

const contradictions: ReadonlySet<Evidence> = new Set([
  ...(["other number", "other house", "other street", "other town"] as const),
  ...(["other road", "other kilometre", "opposite sides"] as const),
]);

function evidenceOf(
  a: Clues,
  b: Clues,
  metres: number,
  { clearM, covered, shared }: Surroundings,
): Evidence[] {
  const step = ([15, 30, 50, 80] as const).find((limit) => metres <= limit) ?? 150;
  return [
    shared ? "position of several stations" : (`distance to ${step} m` as const),
    ...(clearM === Number.POSITIVE_INFINITY
      ? ([covered ? "no other candidate in two full sources" : "no other candidate"] as const)
      : clearM >= clearlyM
        ? (["clearly the nearest"] as const)
        : []),
    ...textEvidence(a, b),
  ];
}

/** What a position of few decimals may be wrong by: three are up to 70 m. */
const coarseM = ({ lat, lon }: Place): number => {
  const isWhole = (scale: number): boolean =>
    [lat, lon].every((degrees) => Math.abs(degrees * scale - Math.round(degrees * scale)) < 1e-6);
  return isWhole(100) ? candidateM : isWhole(1000) ? 40 : 0;
};

function textEvidence(a: Clues, b: Clues): Evidence[] {
  const found: Evidence[] = [];
  const add = (one: Evidence | undefined): unknown => one !== undefined && found.push(one);
  if (meets([...a.refs].filter(isLong), b.refs)) add("same register id");
  if (both(a.brand, b.brand)) add(meets(a.brand, b.brand) ? "same brand" : "other brand");
  else if (isNamedBy(a, b) || isNamedBy(b, a)) add("same brand");
  else if (both(a.brand, b.name) || both(b.brand, a.name)) add("other name");
  if (both(a.name, b.name) && !found.includes("other name"))
    add(meets(a.name, b.name) ? "same name" : "other name");
  if (meets(a.numbers, b.numbers)) add("same number");
  else if (both(a.ownNumbers, b.ownNumbers)) add("other number");
  if (both(a.street, b.street)) {
    const isSame = meets(a.street, b.street);
    add(isSame ? "same street" : "other street");
    if (isSame) add(housesOf(a, b));
  }
  if (both(a.town, b.town)) add(meets(a.town, b.town) ? "same town" : "other town");
  if (both(a.roads, b.roads) && !meets(a.roads, b.roads)) add("other road");
  else add(kilometreOf(a, b));
  add(sideOf(a, b));
  return found;
}

function housesOf(a: Clues, b: Clues): Evidence | undefined {
  if (!both(a.houses, b.houses)) return undefined;
  if (meets(a.houses, b.houses)) return "same house";
  // "7A" and "7" may be one house, seen by two mappers.
  const base = ({ houses }: Clues): string[] =>
    [...houses].map((one) => Number.parseInt(one, 10) + "");
  return meets(base(a), new Set(base(b))) ? undefined : "other house";
}

function kilometreOf(a: Clues, b: Clues): Evidence | undefined {
  const apart = Math.min(...a.kms.flatMap((one) => b.kms.map((other) => Math.abs(one - other))));
  if (!Number.isFinite(apart)) return undefined;
  // A whole kilometre was rounded, and the two directions of a road are measured each by itself.
  const isWhole = [...a.kms, ...b.kms].some(Number.isInteger);
  if (apart <= (isWhole ? 0 : 0.05)) return "same kilometre";
  return apart > (isWhole ? 1 : 0.05) ? "other kilometre" : undefined;
}

/** Opposite sides of a road; of a motorway the side must be known to be the same. */
function sideOf(a: Clues, b: Clues): Evidence | undefined {
  let agree = false;
  for (const [one, other] of oppositeSides) {
    const [ours, theirs] = [a, b].map(({ sides }) =>
      [one, other].filter((side) => sides.has(side)),
    );
    // "A1 Roma Nord, dir. Sud" names both: it says nothing.
    if (ours!.length !== 1 || theirs!.length !== 1) continue;
    if (ours![0] !== theirs![0]) return "opposite sides";
    agree = true;
  }
  return !agree && (a.motorway || b.motorway) ? "motorway, side unknown" : undefined;
}

const both = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => a.size > 0 && b.size > 0;

const meets = (a: Iterable<string>, b: ReadonlySet<string>): boolean => {
  for (const one of a) if (b.has(one)) return true;
  return false;
};

/** True if the name of a station without a brand has the words of the other's brand. */
const isNamedBy = (a: Clues, b: Clues): boolean => a.brand.size === 0 && meets(a.name, b.brand);

/** A short number is too often that of something else. */
const isLong = (ref: string): boolean => ref.length >= 4;
