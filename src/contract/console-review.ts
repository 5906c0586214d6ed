import type { FuelBlock } from "#src/domain/state.ts";
import type { ServedStatus, Status } from "#src/domain/vocabulary.ts";

// What the console shows of held marks, rollbacks and lies. Times are ms since the epoch, null for never.

/** A reporter's activity in the last days. The reporter stays anonymous: only the number of its row is shown. */
export interface ConsoleReporter {
  id: number;
  first_seen: number | null;
  /** Marks of the last 7 days, in total and by status. */
  marks: number;
  said: Record<Status, number>;
  stations: number;
  held: number;
  rejected: number;
}

export interface MarkFacts {
  id: number;
  status: Status;
  received: number;
  effective: number;
  source: "partner" | "widget" | "demo";
  partner_id: number | null;
  key_id: number | null;
  remote: boolean;
  comment: string | null;
}

export interface ConsoleHeldMark extends MarkFacts {
  station_id: string;
  station: string;
  station_lat: number;
  station_lon: number;
  served: string;
  lat: number | null;
  lon: number | null;
  acc_m: number | null;
  partner: string | null;
  /** The first digits of the viewer's network's hash; null for partners' marks. */
  network: string | null;
  /** Newcomers' `no` marks through the same key within the review's window, and the number of their reporters. */
  source_no: number;
  source_reporters: number;
  reporter: ConsoleReporter;
}

/** A viewers' network, by the beginning of its hash, with the reasons why the console knows it. */
export interface ConsoleNetwork {
  network: string;
  held: number;
  /** The last alarm that names it, and the end of its block, ms. */
  alarm: number | null;
  blocked: number | null;
}

export interface ConsoleRollbackChange {
  station_id: string;
  /** Name, brand and address of the station. */
  station: string;
  /** Its position; null when only its marks are known. */
  lat: number | null;
  lon: number | null;
  /** Number of its marks that the decision concerns. */
  marks: number;
  before: FuelBlock;
  after: FuelBlock;
}

/** The changes that a rollback, or the approval of held marks, would make. */
export interface ConsoleRollback {
  marks: number;
  held: number;
  reporters: number;
  /** Marks of reporters who were known for `establishedMs` when they sent them. */
  established: number;
  stations: number;
  /** Number of stations, those with the most marks, that were computed; changed ones come first in `changes`. */
  worked_out: number;
  changes: ConsoleRollbackChange[];
}

/** Held marks of one source, in one city, received in one hour. */
export interface ConsoleHeldGroup {
  /** The beginning of the hour, ms. */
  hour: number;
  /** The key of a partner, or the network of viewers of the map: one of the two is null. */
  key_id: number | null;
  network: string | null;
  partner: string | null;
  city: string;
  marks: number;
  stations: number;
  reporters: number;
  said: Record<Status, number>;
  /** Marks of others at these stations at about that time. */
  agree: number;
  disagree: number;
  /** The decision that most of them speak for; null when they are too few, or divided. */
  leans: "approve" | "reject" | null;
  /** The share of lies that is believed of marks like these, percent; null while nothing is known. */
  lies: number | null;
  /** Reporters who were new, marks within some metres of the station's own point, and the time that all took. */
  newcomers: number;
  exact: number;
  span_s: number;
  /** The selection to send with a decision about the group. */
  selection: object;
}

/** A decision about many marks, with the times (ms) and actors of the decision and of its reversal. */
export interface ConsoleBatchLine {
  id: number;
  act: "rollback" | "approve" | "reject";
  actor: string;
  /** The conditions by their names; times in ms. */
  selection: object;
  marks: number;
  stations: number;
  stations_done: number;
  started: number;
  /** Null while it is being done, and after it was broken off. */
  finished: number | null;
  undo_actor: string | null;
  /** Beginning and end of its reversal. */
  undo: number | null;
  undone: number | null;
}

/** Marks of a rollback that stay withdrawn when it is taken back, and the ids of the rollbacks that cover them too. */
export interface StillWithdrawn {
  still_withdrawn: number;
  withdrawn_by: number[];
}

export interface ConsoleBatch extends ConsoleBatchLine, Partial<StillWithdrawn> {
  /** Marks that are again what they were when it is taken back. */
  restores: number;
  /** Stations that a worker still has to calculate again. */
  waiting: number;
  worked_out: number;
  /** Stations without the decision (`before`) and with it (`after`), as of now; none when it was taken back. */
  changes: ConsoleRollbackChange[];
}

export interface ConsoleFailedMark {
  id: number;
  station_id: string;
  status: Status;
  received: number;
  failed: number;
  failure: string;
}

/** A station's chance over two days; chances in percent, times in ms. */
export interface ConsoleChance {
  from: number;
  until: number;
  points: { at: number; chance: number }[];
  /** What each mark did to it; `before` is null for the first one of all. */
  marks: { id: number; at: number; fuel: boolean; before: number | null; after: number }[];
  /** What was served meanwhile. */
  runs: { status: ServedStatus; from: number; to: number | null }[];
}

/** What is learnt of lies; shares in percent. `judged`: marks that it comes from, the last ones. */
export interface ConsoleLies {
  kinds: { newcomer: boolean; remote: boolean; fuel: boolean; lies: number; judged: number }[];
  /** Keys of partners and feeds, by what their marks say: of known drivers and of newcomers, at the station. */
  sources: {
    /** Null for a feed, of which `feed` is the name; "" when it is gone. */
    key_id: number | null;
    feed: string;
    fuel: boolean;
    known: number;
    newcomers: number;
    judged: number;
  }[];
  reporters: { id: number; lies: number; judged: number }[];
}
