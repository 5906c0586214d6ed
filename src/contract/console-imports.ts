// What the console shows of imports and feeds. Times are ms since the epoch, null for never.

export const importKinds = ["stations", "cities", "statuses"] as const;

/** Guards of whole files that `--force` overrides (docs/imports.md). */
export const guardNames = ["swapped", "moved", "country", "all-no", "half", "removals"] as const;
export type GuardName = (typeof guardNames)[number];

/** A description of a source that comes with Fuelmark. */
export interface ConsoleSource {
  name: string;
  title: string;
  /** The content of each of its files. */
  files: string[];
}

/** A row that an import has left out. */
export type ConsoleRefusedRow = Record<"place" | "id" | "field" | "value" | "reason", string>;

/** An import that was started in the console, or a run of a feed. */
export interface ConsoleImport {
  id: number;
  /** `feed`: a run of a feed. */
  kind: (typeof importKinds)[number] | "feed";
  file: string;
  source: string | null;
  replace_source: boolean;
  dry_run: boolean;
  actor: string;
  /** `interrupted`: its process has died; the same import again does the rest. `unchanged`: a feed had nothing new. */
  state: "running" | "done" | "unchanged" | "refused" | "failed" | "interrupted";
  step: string;
  /** Bytes of the file, then rows; `total` null while it is not known. */
  done: number;
  total: number | null;
  /** Its result: numbers by their names, and reasons of refused rows. */
  summary: Record<string, unknown> | null;
  /** The reason of its refusal or failure. */
  fault: string | null;
  /** True if the rows that it has left out can be seen. */
  has_refused_rows: boolean;
  started: number;
  finished: number | null;
}

/** A source whose files are fetched and imported by themselves (decisions 14.35). */
export interface ConsoleFeed {
  id: number;
  source: string;
  /** Each an address, or a path below FEEDS_FOLDER. */
  files: string[];
  replace_source: boolean;
  every_s: number;
  /** An operator is told when nothing new has come for so long. */
  alarm_after_s: number;
  paused: boolean;
  due: number;
  /** Runs in a row without success. */
  failures: number;
  /** When it last brought something new, was added or resumed. */
  news: number;
  /** True when that is longer ago than `alarm_after_s`. */
  silent: boolean;
  /** Its newest run; null before the first. */
  state: ConsoleImport["state"] | null;
  /** Rows of its files that it has refused. */
  left_out: number;
  fault: string | null;
  started: number | null;
  finished: number | null;
}

export interface ConsoleFeeds {
  feeds: ConsoleFeed[];
  /** Sources that a feed can be of. */
  sources: { name: string; title: string; has_address: boolean }[];
}
