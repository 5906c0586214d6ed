import type { Command } from "commander";
import { counted, table } from "#cli/output.ts";
import { ExitError } from "#cli/exit-error.ts";
import { choice, flag, id, line, moment, stationId } from "#cli/values.ts";
import type { ConsoleRollback, ConsoleRollbackChange } from "#src/contract/console.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import type { Db } from "#src/infrastructure/db.ts";
import { findReporter, type Selection } from "#src/marks/selection.ts";

/** Stations of which a preview and a record say what changes. */
export const shownStations = 50;

export interface SelectionOptions extends Omit<Selection, "reporter"> {
  reporter?: string;
}

/** The options that select marks, all of them together (decisions 4.18). */
export const selecting = (command: Command): Command =>
  command
    .option("--key <id>", "marks that came through this key", id)
    .option("--partner <id>", "marks of this partner's users", id)
    .option("--reporter <id|hash>", "marks of this reporter", reporterName)
    .option("--station <id>", "marks at this station", stationId)
    .option("--city <name>", "marks at the stations of this city", line(200, "not empty"))
    .option("--network <hash>", "marks from this viewer's network, as an alarm names it", network)
    .option(`--status <${statuses.join("|")}>`, "marks with this status", choice(statuses))
    .option(
      "--remote <true|false>",
      "true: marks without a position at the station; false: the others",
      flag,
    )
    .option(
      "--first-seen-since <time>",
      "marks of people first seen at this UTC time or later",
      moment,
    )
    .option("--first-seen-until <time>", "marks of people first seen before this UTC time", moment)
    .option("--since <time>", "marks received at this UTC time or later", moment)
    .option("--until <time>", "marks received before this UTC time", moment);

/** What was typed of `selecting`, with the reporter's row. */
export async function selectionOf(db: Db, options: SelectionOptions): Promise<Selection | Refusal> {
  const { key, partner, station, city, network: from, status, remote } = options;
  const { firstSeenSince, firstSeenUntil, since, until } = options;
  const reporter =
    options.reporter === undefined ? undefined : await findReporter(db, options.reporter);
  if (reporter !== undefined && isRefusal(reporter)) return reporter;
  return {
    ...{ key, partner, reporter: reporter?.id, station, city, network: from, status, remote },
    ...{ firstSeenSince, firstSeenUntil, since, until },
  };
}

/** What a decision would change, for people. */
export function previewText(
  { marks, held, reporters, established, stations, worked_out, changes }: ConsoleRollback,
  nothing: string,
): string {
  if (marks === 0) return nothing;
  const sums = `${counted(marks, "mark")} (${held} of them held, ${established} of reporters known for a week) of ${counted(reporters, "reporter")} at ${counted(stations, "station")}`;
  const more =
    stations > changes.length
      ? `\n… worked out for ${worked_out} of ${counted(stations, "station")}, ${changes.length} shown`
      : "";
  return `${sums}\n\n${changesText(changes)}${more}`;
}

export const changesText = (changes: readonly ConsoleRollbackChange[]): string =>
  table(
    changes.map(({ station_id, station, marks, before, after }) => ({
      ...{ station: station_id, name: station, marks },
      status: arrow(before.status, after.status),
      confirmations: arrow(before.confirmations, after.confirmations),
      pending: arrow(before.pending_status || "-", after.pending_status || "-"),
      updated: arrow(before.updated || "-", after.updated || "-"),
    })),
    "no station changes",
  );

const arrow = (before: string | number, after: string | number): string =>
  before === after ? String(before) : `${before} → ${after}`;

function reporterName(text: string): string {
  const name = text.trim().toLowerCase();
  if (!/^([1-9]\d{0,14}|[0-9a-f]{64})$/.test(name))
    throw new ExitError(`must be a reporter's id or the hex of its hash, not "${text}"`);
  return name;
}

/** Alarms name a network by the first eight digits of its hash. */
function network(text: string): string {
  const digits = text.trim().toLowerCase();
  if (!/^[0-9a-f]{8,64}$/.test(digits))
    throw new ExitError(`must be 8 to 64 hex digits of a network's hash, not "${text}"`);
  return digits;
}
