import type { StationState } from "#src/domain/state.ts";
import type { Leaf } from "#snapshots/page-tree.ts";

/** What the model knows of one station beside its bytes. Mutable, owned by the model. */
export interface Station {
  readonly id: string;
  /** Where its bytes are; null when the station was taken out of service. */
  leaf: Leaf | null;
  /** Its place in the leaf's page. */
  slot: number;
  /** Later of the feed's time and the last passed instant, ms. */
  changedAt: number;
  /** Folded state, kept only while time alone can still change what is served. */
  state: StationState | null;
  /** The next instant at which time alone changes it, ms; Infinity when there is none. */
  nextAt: number;
  /** Its place in the heap of instants, -1 when not in it. */
  heapIndex: number;
  /** Neighbours in the list ordered by `changedAt`. */
  older: Station | null;
  newer: Station | null;
}

export const newStation = (id: string): Station => ({
  id,
  leaf: null,
  slot: 0,
  changedAt: 0,
  state: null,
  nextAt: Number.POSITIVE_INFINITY,
  heapIndex: -1,
  older: null,
  newer: null,
});
