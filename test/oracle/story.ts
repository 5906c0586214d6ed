/** What the oracle is told and what it answers; nothing of it comes from src/domain. */
export type Status = "yes" | "low" | "no" | "queue";
export type Grade = "92" | "95" | "98" | "100" | "ДТ";

/** What a mark says beside its status; an absent field is no statement. */
export interface Says {
  readonly fuels?: readonly Grade[];
  readonly fuelsNo?: readonly Grade[];
  readonly queue?: string;
  readonly prices?: Readonly<Partial<Record<Grade, number>>>;
  /** null states "no limit" */
  readonly limitL?: number | null;
  readonly noCash?: boolean;
  readonly fuelCardsOnly?: boolean;
}

/** A counted mark: accepted and not held, rejected, withdrawn or expired. Times in ms. */
export interface OracleMark {
  readonly id: number;
  readonly reporter: string;
  readonly status: Status;
  readonly at: number;
  readonly remote: boolean;
  readonly needed: number;
  readonly rule: string;
  /** Network of a widget's viewer; absent for partners' marks and for a carrier's network (decisions 1.8). */
  readonly network?: string;
  /** What its prices out of line need; the others are absent (decisions 2.29). */
  readonly pricesNeeded?: Readonly<Partial<Record<Grade, number>>>;
  readonly says: Says;
}

/** The order of marks (decisions 1.4). */
export const inOrder = (a: OracleMark, b: OracleMark): number => a.at - b.at || a.id - b.id;

/** An imported status: an event at its time of import, as old as its source says. */
export interface OracleSeed {
  readonly status: Status;
  readonly importedAt: number;
  readonly at: number;
  readonly fuels: readonly Grade[];
  readonly fuelsNo: readonly Grade[];
}

export interface OracleStory {
  readonly marks: readonly OracleMark[];
  readonly firstSeen: (reporter: string) => number;
  readonly seeds?: readonly OracleSeed[];
  /** live opinions that count (decisions 2.40); 500 if absent */
  readonly opinionsMax?: number;
}

/** The served fields that the oracle vouches for, `updated` as ms (null: never set). */
export interface OracleBlock {
  readonly status: Status | "nodata";
  readonly fuels_now: string;
  readonly fuels_no: string;
  readonly prices: string | undefined;
  readonly queue: string;
  readonly limit_l: number | null;
  readonly no_cash: boolean;
  readonly fuel_cards_only: boolean;
  readonly confirmations: number;
  readonly real_count: number;
  readonly seeded: boolean;
  readonly updated: number | null;
  readonly pending_status: Status | "";
  readonly pending_count: number;
  readonly resolution_reason: "published" | "unconfirmed" | "conflict" | "no_data";
  readonly sides: readonly [OracleSide, OracleSide] | null;
}

export interface OracleSide {
  readonly status: Status;
  readonly count: number;
}

export const grades: readonly Grade[] = ["92", "95", "98", "100", "ДТ"];
