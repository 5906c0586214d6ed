import type { StationRow } from "#src/feed/feed.ts";
import { foldText } from "#src/contract/fold-text.ts";
import { brandKey } from "#src/import/brand-key.ts";
import { brandOfKey, brandsOfKey, noBrands } from "#src/import/brand-list.ts";
import { brandOfName } from "#src/import/brand-names.ts";
import lists from "#src/import/place-words.json" with { type: "json" };

/** What a source says of a station, as far as it tells one station from another. */
export interface Place extends Pick<StationRow, "id" | "lat" | "lon" | "brand" | "name" | "addr"> {
  operator?: string;
  city?: string;
  /** Ids of other registers, from tags such as `ref:mise`. */
  refs?: readonly string[];
  /** True for a station that sells only gas. */
  gas?: boolean;
}

/** The clues in a place's texts. All words are without case and accents. */
export interface Clues {
  /** Words of the brand; empty without one. */
  brand: ReadonlySet<string>;
  /** Words of the name and operator that are not those of the brand or the town. */
  name: ReadonlySet<string>;
  /** Numbers of the station: "АЗС № 101", "PV 7718", "19829 AGRIGENTO". */
  numbers: ReadonlySet<string>;
  /** Those of `numbers` that are certainly the station's own. */
  ownNumbers: ReadonlySet<string>;
  street: ReadonlySet<string>;
  /** House numbers, as written. */
  houses: ReadonlySet<string>;
  town: ReadonlySet<string>;
  /** "a22", "ss189". */
  roads: ReadonlySet<string>;
  /** Kilometres of the road. */
  kms: readonly number[];
  /** Sides of a road: "n", "s", "e", "w", "in", "out", "left", "right". */
  sides: ReadonlySet<string>;
  motorway: boolean;
  refs: ReadonlySet<string>;
}

// Without the country, which a match across sources does not need and which costs a look at the map of the world.
const listed = (text: string): string | undefined => brandsOfKey(brandKey(text))[0]?.name;

/** Reads the clues of a place. Pure. */
export function cluesOf(place: Place): Clues {
  const { id, brand, name, addr, operator = "", city = "", refs = [] } = place;
  const address = addressOf(addr, city);
  const isNone = brand === "" || noBrands.has(brandKey(brand));
  const own = isNone ? (brandOfName(name, place, listed) ?? "") : brand;
  const key = brandOfKey(brandKey(own));
  // "Agip Eni" and "Eni", "Neste" and "Neste Express": a brand's words are its own.
  const brandWords = new Set([...wordsOf(own, brandFiller), key]);
  brandWords.delete("");
  // One firm runs many stations of a brand.
  const named = [...wordsOf(key === "" ? `${name} ${operator}` : name, filler)];
  const isOfBrand = (word: string): boolean =>
    brandWords.has(word) || brandOfKey(brandKey(word)) === key;
  const said = fold(`${name} ${addr}`);
  return {
    brand: brandWords,
    name: new Set(named.filter((word) => !isOfBrand(word) && !address.town.has(word))),
    ...numbersOf(name),
    ...address,
    sides: sidesOf(said),
    motorway: motorways.test(said),
    refs: new Set([...refs, id.replace(/^.*-(?=.)|^[nwr](?=\d)/, "")].map(refKey)),
  };
}

const fold = (text: string): string => foldText(text).replace(/[’'`"«»]/g, " ");

// A register's number may have lost its leading zero.
const refKey = (ref: string): string => ref.replace(/^0+/, "").toLowerCase();

const words = (text: string): string[] => fold(text).match(/\p{L}[\p{L}\p{N}&]*/gu) ?? [];

const wordsOf = (text: string, without: ReadonlySet<string>): Set<string> =>
  new Set(words(text).filter((word) => word.length > 1 && !without.has(word)));

const set = (text: string): ReadonlySet<string> => new Set(fold(text).split(/\s+/));

const sideTexts = Object.values(lists.sides).join(" ");
const sideSets = Object.entries(lists.sides).map(([side, text]) => [side, set(text)] as const);

/** Pairs of sides that exclude each other. */
export const oppositeSides = [
  ["n", "s"],
  ["e", "w"],
  ["in", "out"],
  ["left", "right"],
] as const;

const roadNames = /(?<!\p{L})dir\p{L}*\.?\s+\p{L}{3,}\s+\p{L}+/gu;

const sidesOf = (folded: string): Set<string> => {
  // "A1 dir. Roma Nord" is the name of a road.
  const found = folded.replace(roadNames, " ").match(/\p{L}+/gu) ?? [];
  return new Set(
    sideSets.flatMap(([side, some]) => (found.some((word) => some.has(word)) ? side : [])),
  );
};

const motorways =
  /(?<!\p{L})(autostrad\p{L}*|autoroute|autobahn|autopista|autovia|auto-estrada|motorway|tangenziale|raccordo|g\.?r\.?a|мкад|aire d\p{L}*|area di servizio|services)(?!\p{L})|(?<![\p{L}\p{N}])[amм][- ]?\d{1,3}(?![\p{L}\p{N}/])|sens \p{L}+[- ]/u;

const filler = set(`${lists.name} ${sideTexts}`);
const brandFiller = set(lists.brand);

function numbersOf(name: string): Pick<Clues, "numbers" | "ownNumbers"> {
  const folded = fold(name);
  const own = [
    ...folded.matchAll(/(?:№|n[°º]|#|(?<!\p{L})(?:азс|азк|pv|no\.?))[\s-]*(\d[\d/-]*)/gu),
  ];
  const long = [...folded.matchAll(/(?<![\p{N}.,])\p{L}{0,3}(\d{3,7})(?![\p{N}.,])/gu)];
  const of = (found: RegExpMatchArray[]): Set<string> =>
    new Set(found.map((one) => refKey(one[1]!)));
  const ownNumbers = of(own);
  return { ownNumbers, numbers: new Set([...ownNumbers, ...of(long)]) };
}

const streetFiller = set(`${lists.street} ${sideTexts}`);

type Address = Pick<Clues, "street" | "houses" | "town" | "roads" | "kms">;

function addressOf(addr: string, city: string): Address {
  const folded = fold(addr).replace(/\(\p{L}+\)/gu, " ");
  const parts = folded.split(/[,;]| - /).map((part) => part.trim());
  const last = parts.length > 1 ? (parts.at(-1) ?? "") : "";
  const townText = city === "" && !/\d/.test(last.replace(/\d{5,6}/, "")) ? last : fold(city);
  const town = new Set(words(townText.replace(/\d/g, "")).filter((word) => word.length > 2));
  const rest = folded
    .replace(/(?<!\p{L})([sр])\.\s?([spr])\.?(?=\s?\d)/gu, "$1$2")
    .replace(/(?<!\d)\d{5,6}(?!\d)/g, " ")
    // "8 mai 1945", "1-я линия": numbers that are a part of the street's name.
    .replace(/\d+-?(?:ый|ой|й|я|ая|е|ий|er|e|eme|o|a)(?=[\s,])/gu, (ordinal) =>
      /-/.test(ordinal) ? " " : ordinal,
    );
  const kms = [
    ...rest.matchAll(
      /(?<!\p{L})km\.?\s*(?:n\.?\s*)?(\d+(?:[.,+]\s*\d+)?)|(\d+)-?\p{L}*\s+(?:км|километр)/gu,
    ),
  ];
  const roads = [
    ...rest.matchAll(
      /(?<![\p{L}\p{N}])(a|ss|sp|sr|rn|rd|e|m|м|р|p)[.\s-]?\s?(\d{1,4})(?![\p{N}/])/gu,
    ),
  ];
  const plain = [...kms, ...roads].reduce((text, found) => text.replace(found[0], " "), rest);
  const houses = [
    ...plain.matchAll(
      /(?<![\p{L}\p{N}])(\d{1,4}(?:\s?[\p{L}](?!\p{L}))?(?:[/-]\d+\p{L}?)?)(?![\p{L}\p{N}])/gu,
    ),
  ];
  return {
    street: new Set([...wordsOf(plain, streetFiller)].filter((word) => !town.has(word))),
    houses: new Set(houses.map((found) => found[1]!.replace(/\s/g, ""))),
    town,
    roads: new Set(roads.map((found) => found[1]! + found[2]!)),
    kms: kms.map((found) => Number((found[1] ?? found[2]!).replace(/[,+]\s*/, "."))),
  };
}
