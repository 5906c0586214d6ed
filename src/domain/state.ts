import type { Grade, Queue, Reason, Rule, ServedStatus, Status } from "#src/domain/vocabulary.ts";

/** Place in the order of marks (decisions 1): effective time in ms, then mark id. */
export interface Position {
  at: number;
  id: number;
}

/** Details of one mark beside its status. Null or absent for nothing. */
export interface Statement {
  fuels?: readonly Grade[] | null;
  fuelsNo?: readonly Grade[] | null;
  queue?: Queue | null;
  prices?: Readonly<Partial<Record<Grade, number>>> | null;
  /** Litres, or null for "no limit"; undefined: nothing said. */
  limitL?: number | null | undefined;
  noCash?: boolean | null;
  fuelCardsOnly?: boolean | null;
}

/** A counted mark as the fold sees it: fixed at its acceptance, never changed. */
export interface Mark extends Position, Statement {
  reporterId: number;
  status: Status;
  remote: boolean;
  needed: number;
  rule: Rule;
  /** The viewer's network, where its new devices count as one (decisions 1.8). */
  network?: string;
  /** Devices that prices out of line need (decisions 2.29); the others need what the mark needs. */
  pricesNeeded?: Readonly<Partial<Record<Grade, number>>>;
}

/** An imported status (decisions 6): an event at its time of import, as old as its source says. */
export interface Seed {
  importedAt: number;
  updated: number;
  status: Status;
  fuelsNow: readonly Grade[];
  fuelsNo: readonly Grade[];
}

/** Negative when `a` comes before `b` in the order of marks. */
export const order = (a: Position, b: Position): number => a.at - b.at || a.id - b.id;

/** Details that expire together with the served status. */
export interface Details {
  fuelsNow: Grade[];
  fuelsNo: Grade[];
  queue: Queue | "";
  limitL: number | null;
  noCash: boolean;
  fuelCardsOnly: boolean;
}

export interface Served {
  status: Status;
  updated: number;
  confirmations: number;
  realCount: number;
  details: Details;
}

/** A status with supporters that is not served, as counted when the station was last touched. */
export interface UnservedStatus {
  status: Status;
  count: number;
  newest: Position;
  disputed: { served: Side; challenger: Side } | null;
}

/** One side of a dispute as the API shows it. */
export interface Side {
  status: Status;
  count: number;
  updated: number;
}

export interface Price {
  grade: Grade;
  price: number;
  from: Position;
}

/**
 * A station's folded state as of its last step. Later changes by the passing of time follow from it: expiries from its
 * times, the end of a dispute from `next`, which was computed in advance.
 */
export interface StationState {
  served: Served | null;
  seeded: Seed | null;
  versions: UnservedStatus[];
  prices: Price[];
  /** Last publication of each status: only later opinions support a different one. */
  publications: Partial<Record<Status, Position>>;
  /** `updated` of the last served status, imports included; stays when it has expired. */
  lastUpdated: number | null;
  /** The last mark or seed that was folded in; an event that sorts before it needs a refold. */
  last: Position | null;
  next: { at: number; state: StationState } | null;
}

export const emptyState: StationState = {
  served: null,
  seeded: null,
  versions: [],
  prices: [],
  publications: {},
  lastUpdated: null,
  last: null,
  next: null,
};

/** The fuel status block of docs/contract.md 2.2, with its keys in the order in which they are served. */
export interface FuelBlock {
  /** How likely the station has fuel, percent in steps of 5; absent while unknown (decisions 23.17). */
  chance?: number;
  status: ServedStatus;
  fuels_now: string;
  fuels_no: string;
  prices?: string;
  queue: Queue | "";
  limit_l: number | null;
  no_cash: boolean;
  fuel_cards_only: boolean;
  confirmations: number;
  real_count: number;
  seeded: boolean;
  updated: string;
  pending_status: Status | "";
  pending_count: number;
  resolution_reason: Reason;
  conflict: { versions: { status: Status; count: number; updated: string }[] } | null;
}
