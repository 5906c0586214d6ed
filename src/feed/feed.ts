import { type Db, rows, type Statements, type Tx } from "#src/infrastructure/db.ts";
import { emptyState, type StationState } from "#src/domain/state.ts";
import { msOf } from "#src/marks/marks.ts";

/** A station's fixed facts, as served in docs/contract.md 2.1. */
export interface StationRow {
  id: string;
  lat: number;
  lon: number;
  brand: string;
  name: string;
  addr: string;
}

/** One row of the change feed, with everything needed to serve the station. Times in ms. */
export interface FeedRow extends StationRow {
  /** Commit-ordered number of the station's latest change. */
  seq: number;
  /** Server time of that change. */
  at: number;
  /** True when the station was taken out of service. */
  removed: boolean;
  state: StationState;
}

const select = `select c.station_id as id, c.seq, ${msOf("c.at")} as at,
    c.removed or s.removed_at is not null as removed, s.lat, s.lon, s.brand, s.name, s.addr, st.state
  from changes c join stations s on s.id = c.station_id left join station_status st on st.station_id = c.station_id`;

/** The first `limit` rows after the number `seq`. */
export const readAfter = async (db: Statements, seq: number, limit: number): Promise<FeedRow[]> =>
  filled(
    await rows(db, `${select} where c.seq > ? order by c.seq limit ${limit}`, [seq], "read_after"),
  );

/** The rows of these stations. */
export const readStations = async (db: Db | Tx, ids: readonly string[]): Promise<FeedRow[]> =>
  filled(await rows(db, `${select} where c.station_id = any(?::text[]) order by c.seq`, [ids]));

type Row = Omit<FeedRow, "state"> & { state: StationState | null };
const filled = (found: Row[]): FeedRow[] =>
  found.map((row) => ({ ...row, state: row.state ?? emptyState }));

/** `as_of` stays this far behind, because partners compare it by whole seconds. */
export const asOfLagMs = 1000;

/** The cursor of docs/decisions.md 7 in ms, a whole second, for who has every change before `ms`. */
export const asOfBefore = (ms: number): number => Math.floor(ms / 1000) * 1000 - asOfLagMs;

/** For a station that a restored database does not know any more. */
export const lostRow = (id: string, at: number): FeedRow => ({
  ...{ id, seq: 0, at, removed: true, lat: 0, lon: 0, brand: "", name: "", addr: "" },
  state: emptyState,
});
