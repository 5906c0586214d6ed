import { grades } from "#src/domain/vocabulary.ts";
import { brandKey } from "#src/import/brand-key.ts";
import type { Doubtful } from "#src/import/file-import.ts";
import { contradiction } from "#src/import/match-stations.ts";
import { nearPairs } from "#src/import/near-pairs.ts";
import type { ImportedStation } from "#src/import/osm-station.ts";
import type { RefusedRows } from "#src/import/refusals.ts";

const sameM = 25;
const doubtfulM = 40;

export interface Group {
  /** The station: the first member's id and position, with better values of the others. */
  station: ImportedStation;
  /** Ids of the other members: the same station mapped again. */
  doubles: readonly string[];
}

/** Ids of the source's stations. */
interface Known {
  inService: ReadonlySet<string>;
  parts: ReadonlySet<string>;
  closed: ReadonlySet<string>;
}

const none: readonly string[] = [];

/** Stations so near to one another; the busiest crossroads have six. */
const nearMost = 60;

/**
 * Objects that are one station: at most 25 m apart and not contradicting each other in name or brand. Two objects of
 * one kind (two nodes) need the same name. Pairs that a person should check are doubtful. The first member is one that
 * is already `inService`, so that ids are stable; else a part of another station; else one that an operator has
 * `closed`, so that it does not come again under another id; else a named one, else a node. `rows` is told of the others.
 */
export function joinSame(
  imported: readonly ImportedStation[],
  known: Known,
  rows?: RefusedRows,
): { groups: Group[]; doubtful: Doubtful[] } {
  // Only of objects that have another one near: nearly all of a country have none.
  const groupOf = new Map<string, ImportedStation[]>();
  const doubtful: Doubtful[] = [];
  const near = nearPairs(imported, doubtfulM, undefined, nearMost).sort(
    (x, y) => x.metres - y.metres,
  );
  for (const { a, b, metres } of near) {
    const [left, right] = [groupOf.get(a.id) ?? [a], groupOf.get(b.id) ?? [b]];
    if (left === right) continue;
    const verdict = metres <= sameM ? worst(left, right) : "25 to 40 m apart";
    if (verdict === "same") {
      const joined = [...left, ...right];
      for (const one of joined) groupOf.set(one.id, joined);
    } else if (a.sells !== "gas" && b.sells !== "gas") {
      doubtful.push({ ids: [a.id, b.id], distance_m: Math.round(metres), reason: verdict });
    }
  }
  const done = new Set<ImportedStation[]>();
  const groups = imported.flatMap((one) => {
    const members = groupOf.get(one.id);
    if (members === undefined) return { station: one, doubles: none };
    if (done.has(members)) return [];
    done.add(members);
    const group = joined(members, known);
    const { id: value } = group.station;
    for (const { id, own = id, place = "" } of members)
      if (id !== value) rows?.add({ place, id: own, field: "into", value, reason: "merged" }, 1);
    return group;
  });
  return { groups, doubtful };
}

type Verdict = "same" | Exclude<Doubtful["reason"], "25 to 40 m apart">;

function worst(left: readonly ImportedStation[], right: readonly ImportedStation[]): Verdict {
  const verdicts = left.flatMap((a) => right.map((b) => compare(a, b)));
  return verdicts.find((one) => one !== "same") ?? "same";
}

function compare(a: ImportedStation, b: ImportedStation): Verdict {
  const [ours, theirs] = [labels(a), labels(b)];
  const shared = ours.some((label) => theirs.includes(label));
  const bare = ours.length === 0 || theirs.length === 0;
  if (!shared && !bare) return "different names";
  // A gas pump beside a petrol station is a separate firm unless it has the same name.
  if (
    !shared &&
    (a.sells === "gas") !== (b.sells === "gas") &&
    !isUnsaid(a, ours) &&
    !isUnsaid(b, theirs)
  )
    return "different names";
  // One brand, one position and two addresses: a geocoded town or street (decisions 14.28).
  if (contradiction(a, b) !== undefined) return "different addresses";
  return shared || kind(a) !== kind(b) ? "same" : "two objects of one kind";
}

const isUnsaid = (one: ImportedStation, names: readonly string[]): boolean =>
  names.length === 0 && one.sells === "unsaid";

const kind = (one: ImportedStation): string => /^[nwr](?=\d)/.exec(one.id)?.[0] ?? one.id;

/** All names of a station in a comparable form; "АЗС № 5" without more is no name. */
const labels = (one: ImportedStation): string[] =>
  [one.brand, one.name, one.operator]
    .map((text) => brandKey(text).replace(/^\d+$/, ""))
    .filter((key) => key !== "");

const order = { n: 0, w: 1, r: 2 } as Record<string, number>;

function joined(members: readonly ImportedStation[], { inService, parts, closed }: Known): Group {
  const merit = (one: ImportedStation): number =>
    (inService.has(one.id) ? 32 : parts.has(one.id) ? 16 : closed.has(one.id) ? 8 : 0) +
    (one.brand || one.name ? 4 : 0) +
    (one.sells === "petrol" ? 2 : 0) +
    (one.street ? 1 : 0);
  const rank = (one: ImportedStation): number => (order[kind(one)] ?? 3) - 4 * merit(one);
  const [first, ...others] = [...members].sort(
    (a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1),
  ) as [ImportedStation, ...ImportedStation[]];
  const pick = (field: "brand" | "name" | "operator" | "opening_hours"): string =>
    first[field] || (others.find((one) => one[field] !== "")?.[field] ?? "");
  const { addr, street, city } = [first, ...others].find((one) => one.street) ?? first;
  const says = (sold: ImportedStation["sells"]): boolean =>
    members.some(({ sells }) => sells === sold);
  const sells = says("petrol") ? "petrol" : says("gas") ? "gas" : "unsaid";
  const names = { brand: pick("brand"), name: pick("name"), operator: pick("operator") };
  const sold = members.flatMap((one) => one.grades_sold ?? []);
  const grades_sold = sold.length === 0 ? null : grades.filter((grade) => sold.includes(grade));
  const opening_hours = pick("opening_hours");
  const sales = { sells, grades_sold, opening_hours } as const;
  const station: ImportedStation = { ...first, ...names, addr, street, city, ...sales };
  return { station, doubles: others.map((one) => one.id) };
}
