/** Why one thing of a file was not taken, as a word that summaries count by. */
export type Reasons = Record<string, number>;

/** Two objects of a file that may or may not be one station: for a person to look at. */
export interface Doubtful {
  ids: readonly [string, string];
  distance_m: number;
  reason: "different names" | "25 to 40 m apart" | "two objects of one kind";
}

/** What an import did; `read` = added + changed + unchanged + merged + refused. */
export interface ImportSummary {
  source: string;
  format: string;
  dry_run: boolean;
  read: number;
  added: number;
  changed: number;
  unchanged: number;
  merged: number;
  /** Taken out of service: absent with --replace-source, or now known to be a double. */
  removed: number;
  refused: number;
  reasons: Reasons;
  doubtful: readonly Doubtful[];
}

/** A file that cannot be taken as a whole, as one sentence. Nothing was changed. */
export interface FileFault {
  fault: string;
}

export const isFault = (value: object): value is FileFault => "fault" in value;

export const count = (reasons: Reasons, reason: string): void => {
  reasons[reason] = (reasons[reason] ?? 0) + 1;
};
