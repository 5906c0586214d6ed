import type { StationState } from "#src/domain/state.ts";

/** A station's fixed facts, as served in partner-api.md 2.1. */
export interface StationRow {
  id: string;
  lat: number;
  lon: number;
  brand: string;
  name: string;
  addr: string;
}

/** One row of the change feed with all that a reader needs to serve the station. Times in ms. */
export interface FeedRow extends StationRow {
  /** Commit-ordered number of the station's latest change. */
  seq: number;
  /** Server time of that change. */
  at: number;
  /** True when the station was taken out of service. */
  removed: boolean;
  state: StationState;
}
