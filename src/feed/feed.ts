import { rows, type Statements } from "#src/infrastructure/db.ts";
import { grades, noSales, queues, statuses } from "#src/domain/vocabulary.ts";
import type { Closure } from "#src/domain/closure.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { chanceStep } from "#src/domain/chance/level.ts";
import { compileShape, stored } from "#src/infrastructure/quarantine.ts";
import { msOf } from "#src/marks/marks.ts";
import { type TSchema, Type } from "typebox";

/** A station's fixed facts, as served in docs/contract.md 2.1. */
export interface StationRow {
  id: string;
  lat: number;
  lon: number;
  brand: string;
  name: string;
  addr: string;
  /** Its grades in the order of the contract, "92,95,ДТ"; "" while unknown. */
  grades_sold: string;
  /** As OSM writes them, "Mo-Fr 06:00-22:00"; "" while unknown. */
  opening_hours: string;
  /** Closed for now, in the stored form (`closureIn`); "" or absent for no. */
  closed?: string;
}

/** The same as they are served: without what is unknown. */
export type ServedFacts = Omit<StationRow, keyof typeof noSales | "closed"> &
  Partial<Pick<StationRow, keyof typeof noSales>> & { closed?: Closure };

/** One row of the change feed, with everything needed to serve the station. Times in ms. */
export interface FeedRow extends StationRow {
  /** Commit-ordered number of the station's latest change. */
  seq: number;
  /** Server time of that change. */
  at: number;
  /** True when the station was taken out of service. */
  removed: boolean;
  /** The station that this one is a part of now (decisions 14.29). */
  merged_into?: string | null;
  state: StationState;
  /** How likely it has fuel, percent in steps of 5; null while unknown (decisions 23.9). */
  chance: number | null;
  /**
   * The fault of an unreadable row; absent otherwise. Use such a row only if nothing better is known of the station: it
   * is served without a status, or as removed if it has no readable facts.
   */
  fault?: string;
}

/** SQL, true for a number that was given out: a cursor beyond these would miss the following changes. */
export const isGivenOut = (seq: string, sequence: "change_seq" | "time_change_seq"): string =>
  `${seq} <= (select last_value from ${sequence})`;

/** SQL: `changes` or `time_changes` with only such numbers. */
export const givenOut = (table: "changes" | "time_changes"): string => {
  const sequence = table === "changes" ? "change_seq" : "time_change_seq";
  return `(select * from ${table} where ${isGivenOut("seq", sequence)}) as ${table}`;
};

/**
 * `believable`: the number was given out, and the time is not in the future, which no stamp gives. Both are compared
 * with the state at the time of the statement. Each limit makes it one probe of an index: a plan that was made while a
 * table was small would otherwise go on reading all of it.
 */
const select = `select c.station_id as id, c.seq, ${msOf("c.at")} as at,
    ${isGivenOut("c.seq", "change_seq")} and c.at < (select server_now()) + interval '1 hour' as believable,
    c.removed or s.removed_at is not null as removed, s.lat, s.lon, s.brand, s.name, s.addr,
    s.grades_sold, s.opening_hours, s.closed, p.into_id as merged_into, st.state, st.chance
  from changes c cross join lateral (select * from stations where id = c.station_id limit 1) s
    left join lateral (select state, chance from station_status where station_id = c.station_id limit 1) st on true
    left join lateral (select into_id from station_pairs where station_id = c.station_id and verdict = 'joined' limit 1) p
      on true`;

/** The first `limit` rows after the number `seq`. */
export const readAfter = async (db: Statements, seq: number, limit: number): Promise<FeedRow[]> =>
  filled(
    await rows(db, `${select} where c.seq > ? order by c.seq limit ${limit}`, [seq], "read_after"),
  );

/** The rows of these stations. */
export const readStations = async (db: Statements, ids: readonly string[]): Promise<FeedRow[]> =>
  filled(await rows(db, `${select} where c.station_id = any(?::text[]) order by c.seq`, [ids]));

/** Neighbours together: the order of a process's first read of all stations, from any source. */
export const byPlace = (a: FeedRow, b: FeedRow): number =>
  Math.floor(a.lat * 2) - Math.floor(b.lat * 2) || a.lon - b.lon || (a.id < b.id ? -1 : 1);

type Row = Omit<FeedRow, "state" | "fault"> & { state: unknown; believable: boolean };
const filled = (found: Row[]): FeedRow[] =>
  found.map(({ believable, ...row }) => readRow(row, believable));

const { time, text, orNull } = stored;
const factsShape = compileShape(
  Type.Object({
    ...{ id: text, brand: text, name: text, addr: text },
    ...{ grades_sold: text, opening_hours: text, closed: Type.Optional(text) },
    lat: Type.Number({ minimum: -90, maximum: 90 }),
    lon: Type.Number({ minimum: -180, maximum: 180 }),
    chance: orNull(Type.Integer({ minimum: 0, maximum: 100, multipleOf: chanceStep })),
  }),
);
const stampShape = compileShape(Type.Object({ seq: Type.Integer({ minimum: 0 }), at: time }));

/** A row of the change feed, or of a stored copy of it, with its fault if it has one. */
export function readRow(row: Omit<Row, "believable">, believable = true): FeedRow {
  const { state, fault } = readStored(row.removed ? null : row.state);
  const ofStamp = believable ? stampShape(row) : "its number or time was not given out";
  const ofFacts = row.removed ? null : factsShape(row);
  const why = fault ?? ofStamp ?? ofFacts;
  if (why === null) return { ...row, state };
  const stamp = ofStamp === null ? {} : { seq: 0, at: 0 };
  return { ...row, ...stamp, removed: row.removed || ofFacts !== null, state, fault: why };
}

/** A row for a station that a restored database no longer knows. */
export const lostRow = (id: string, at: number): FeedRow => ({
  ...{ id, seq: 0, at, removed: true, lat: 0, lon: 0, brand: "", name: "", addr: "" },
  ...{ ...noSales, state: emptyState, chance: null },
});

const { word } = stored;
const count = Type.Integer({ minimum: 0 });
const status = word(statuses);
const gradeList = Type.Array(word(grades), { maxItems: grades.length });
const position = Type.Object({ at: time, id: Type.Number() });
const side = Type.Object({ status, count, updated: time });
const details = Type.Object({
  ...{ fuelsNow: gradeList, fuelsNo: gradeList, queue: word(["", ...queues]) },
  ...{ limitL: orNull(count), noCash: Type.Boolean(), fuelCardsOnly: Type.Boolean() },
});
const itself = Type.Unsafe<StationState>({ $ref: "#" } as TSchema);

/** The parts of a folded state that readers use, as the marks worker writes them. */
const stateShape = compileShape(
  Type.Object({
    served: orNull(
      Type.Object({ status, updated: time, confirmations: count, realCount: count, details }),
    ),
    seeded: orNull(
      Type.Object({
        ...{ importedAt: time, updated: time, status, fuelsNow: gradeList, fuelsNo: gradeList },
      }),
    ),
    versions: Type.Array(
      Type.Object({
        ...{ status, count, newest: position },
        disputed: orNull(Type.Object({ served: side, challenger: side })),
      }),
    ),
    prices: Type.Array(
      Type.Object({
        ...{ grade: word(grades), from: position },
        price: Type.Number({ minimum: 0, maximum: 1e6 }),
      }),
    ),
    publications: Type.Record(Type.String(), position),
    lastUpdated: orNull(time),
    last: orNull(position),
    next: orNull(Type.Object({ at: time, state: itself })),
  }),
);

/**
 * The state of a station as it is stored; null for none yet. For an unreadable one `fault` has the reason, without
 * values, and `state` is the empty one, which must not count as knowledge (decisions 21.34).
 */
export function readStored(value: unknown): { state: StationState; fault: string | null } {
  if (value === null || value === undefined) return { state: emptyState, fault: null };
  const fault = stateShape(value);
  return { state: fault === null ? (value as StationState) : emptyState, fault };
}
