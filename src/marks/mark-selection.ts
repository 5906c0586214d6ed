import { type Static, Type } from "typebox";
import type { Refusal } from "#src/contract/refusals.ts";
import { formatTime } from "#src/domain/time.ts";
import { dayMs } from "#src/domain/units.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { type Db, rows, type Tx } from "#src/infrastructure/db.ts";
import { nearestCity } from "#src/marks/nearest-city.ts";
import { firstIdOfDay, fromMs } from "#src/marks/marks.ts";
import { invalid, unknown } from "#src/operators/act.ts";
import {
  line,
  moment,
  networkHash,
  oneOf,
  rowId,
  stationId,
  within,
} from "#src/operators/inputs.ts";

const row = Type.Optional(rowId);

/** The conditions that a decision's marks all fit (decisions 4.18). Times are times of receipt, ms. */
export const selected = Type.Object(
  {
    /** Ids of a key, a partner and a reporter's row. */
    key: row,
    partner: row,
    reporter: Type.Optional(within(1, Number.MAX_SAFE_INTEGER)),
    station: Type.Optional(stationId),
    /** A city's name, for the stations that the review counts there (decisions 4.6); "" for those near no city. */
    city: Type.Optional(line(0, 200)),
    network: Type.Optional(networkHash),
    status: Type.Optional(oneOf(statuses)),
    remote: Type.Optional(Type.Boolean()),
    /** Reporters first seen at this moment or later; before this moment. */
    first_seen_since: Type.Optional(moment),
    first_seen_until: Type.Optional(moment),
    /** Received at this moment or later; before this moment. */
    since: Type.Optional(moment),
    until: Type.Optional(moment),
  },
  { additionalProperties: false },
);
export type Selected = Static<typeof selected>;

/** A selection as it is stored. */
export interface Selection extends Conditions {
  /** The only mark of a decision about a single mark (decisions 13.20). */
  mark?: number | undefined;
  firstSeenSince?: number | undefined;
  firstSeenUntil?: number | undefined;
}
type Unchanged = Omit<Selected, "first_seen_since" | "first_seen_until">;
type Conditions = { [Name in keyof Unchanged]?: Unchanged[Name] | undefined };

export const selectionOf = (given: Selected): Selection => {
  const { first_seen_since: firstSeenSince, first_seen_until: firstSeenUntil, ...others } = given;
  return { ...others, firstSeenSince, firstSeenUntil };
};

/** The refusal of a selection that is too wide, or has an unknown name or number; null when it is valid. */
export const refuseSelection = async (
  db: Db | Tx,
  selection: Selection,
  reviews?: readonly Review[],
): Promise<Refusal | null> => refuseWide(selection, reviews) ?? (await refuseAbsent(db, selection));

/** Conditions without an index: on their own they would read every day. */
const wide = {
  city: "a city",
  network: "a network",
  status: "a status",
  remote: "the kind of position",
  until: "an end",
  firstSeenUntil: "an end of first seen",
} as const;

/** Held marks are few, so any condition is enough for them. */
function refuseWide(
  selection: Selection,
  reviews: readonly Review[] = withdrawable,
): Refusal | null {
  const given = Object.entries(selection).filter(([, value]) => value !== undefined);
  const isNarrow = ([name]: [string, unknown]) => !(name in wide) || !reviews.includes("none");
  if (given.some(isNarrow)) return null;
  const names = given.map(([name]) => wide[name as keyof typeof wide]);
  const why =
    names.length === 0
      ? "without any condition all marks would be selected"
      : `${names.join(" and ")} alone would read every day that is kept`;
  const advice = `Give it, or a partner, key, reporter or station: ${why}`;
  return { ...invalid("since", advice), about: { what: "selection", why } };
}

async function refuseAbsent(db: Db | Tx, selection: Selection): Promise<Refusal | null> {
  const { key, partner, reporter, station, city } = selection;
  const named: readonly [string, number | string | undefined, string][] = [
    ["key", key, "select from keys where id = ?"],
    ["partner", partner, "select from partners where id = ?"],
    ["reporter", reporter, "select from reporters where id = ?"],
    ["station", station, "select from stations where id = ?"],
    ["city", city || undefined, "select from cities where lower(name) = lower(?) limit 1"],
  ];
  for (const [what, name, sql] of named)
    if (name !== undefined && (await rows(db, sql, [name])).length === 0)
      return unknown(what, name);
  return null;
}

/** The selection in readable form, for the operator's log and lists. */
export function readableSelection(selection: Selection): object {
  const { since, until, firstSeenSince, firstSeenUntil, ...others } = selection;
  const readable = (at: number | undefined) => (at === undefined ? undefined : formatTime(at));
  return {
    ...others,
    since: readable(since),
    until: readable(until),
    first_seen_since: readable(firstSeenSince),
    first_seen_until: readable(firstSeenUntil),
  };
}

const reporterSeen = (condition: string): string =>
  `exists (select from reporters r where r.id = marks.reporter_id and r.first_seen ${condition})`;

const stationOfCity = `station_id in (
  select a.id from cities n
  join stations a on a.lat between n.lat - 0.25 and n.lat + 0.25 and abs(a.lon - n.lon) * cos(radians(n.lat)) <= 0.25
  join ${nearestCity} on c.id = n.id where lower(n.name) = lower(?))`;

const stationOfNoCity = `not exists (
  select from stations a join ${nearestCity} on true where a.id = marks.station_id)`;

export type Review = "none" | "approved" | "held" | "withdrawn";

/** The reviews of marks that can be withdrawn: counted, held and waiting ones, also failed ones. */
export const withdrawable: readonly Review[] = ["none", "approved", "held"];

/** SQL on `marks` for a selection's marks with one of these reviews. */
export function whereSelected(
  selection: Selection,
  reviews: readonly Review[] = withdrawable,
): { sql: string; bindings: unknown[] } {
  const { mark, key, partner, reporter, station, city, network, status, remote } = selection;
  const { since, until, firstSeenSince, firstSeenUntil } = selection;
  // No reporter's marks are older than its first-seen time.
  const from = since ?? firstSeenSince;
  const conditions: [string, unknown][] = [
    ["id = ?", mark],
    ["key_id = ?", key],
    // A partner's marks are found by its keys, because a widget's mark has no partner.
    ["key_id in (select k.id from keys k where k.partner_id = ?)", partner],
    ["reporter_id = ?", reporter],
    ["station_id = ?", station],
    [stationOfCity, city === "" ? undefined : city],
    ["encode(viewer, 'hex') like ? || '%'", network],
    ["status = ?", status],
    ["remote = ?", remote],
    [reporterSeen(`>= ${fromMs}`), firstSeenSince],
    [reporterSeen(`< ${fromMs}`), firstSeenUntil],
    [`received_at >= ${fromMs}`, since],
    [`received_at < ${fromMs}`, until],
    // The id contains the day, so Postgres skips the partitions of other days.
    ["id >= ?", from === undefined ? undefined : firstIdOfDay(from)],
    ["id < ?", until === undefined ? undefined : firstIdOfDay(until + dayMs)],
  ];
  const used = conditions.filter(([, value]) => value !== undefined);
  const nowhere = city === "" ? [stationOfNoCity] : [];
  return {
    sql: [`review in ('${reviews.join("', '")}')`, ...nowhere, ...used.map(([sql]) => sql)].join(
      " and ",
    ),
    bindings: used.map(([, value]) => value),
  };
}

/** The stations that a selection touches, ascending, with the number of its marks at each. */
export async function selectedStations(
  db: Db | Tx,
  selection: Selection,
  reviews?: readonly Review[],
): Promise<{ station_id: string; marks: number }[]> {
  const { sql, bindings } = whereSelected(selection, reviews);
  const stationsSql = `select station_id, count(*) as marks from marks where ${sql} group by 1 order by 1`;
  return rows(db, stationsSql, bindings);
}

/** The row of a reporter, named by its id or by the hex of its hash. */
export async function findReporter(db: Db | Tx, name: string): Promise<{ id: number } | Refusal> {
  const byHash = name.length === 64;
  const reporterSql = `select id from reporters where ${byHash ? "hash = decode(?, 'hex')" : "id = ?::bigint"}`;
  const [found] = await rows<{ id: number }>(db, reporterSql, [name]);
  return found ?? unknown("reporter", name);
}
