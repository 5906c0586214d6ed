import type { Command } from "commander";
import { withInput } from "#cli/act-verb.ts";
import { counted, ExitError, table } from "#cli/output.ts";
import { line, stationId } from "#cli/command.ts";
import type { ConsoleRollback, ConsoleRollbackChange } from "#src/contract/console-review.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import type { Db } from "#src/infrastructure/db.ts";
import {
  findReporter,
  type Selected,
  selected,
  type Selection,
  selectionOf,
} from "#src/marks/mark-selection.ts";

/** Most stations whose changes a preview and a record show. */
export const shownStations = 50;

/** Adds the options that select marks, which all apply together (decisions 4.18). Gives their reader. */
export const selecting = (command: Command) =>
  withInput(command, selected, {
    key: ["--key <id>", "marks that came through this key"],
    partner: ["--partner <id>", "marks of this partner's users"],
    reporter: ["--reporter <id|hash>", "marks of this reporter", { parse: reporterName }],
    station: ["--station <id>", "marks at this station", { parse: stationId }],
    city: [
      "--city <name>",
      "marks at the stations of this city",
      { parse: line(200, "not empty") },
    ],
    network: [
      "--network <hash>",
      "marks from this viewer's network, as an alarm names it",
      { parse: network },
    ],
    status: [`--status <${statuses.join("|")}>`, "marks with this status"],
    remote: [
      "--remote <true|false>",
      "true: marks without a position at the station; false: the others",
    ],
    first_seen_since: [
      "--first-seen-since <time>",
      "marks of people first seen at this UTC time or later",
    ],
    first_seen_until: [
      "--first-seen-until <time>",
      "marks of people first seen before this UTC time",
    ],
    since: ["--since <time>", "marks received at this UTC time or later"],
    until: ["--until <time>", "marks received before this UTC time"],
  });

/** The selection from the typed options, with the row id of a reporter that is named by its hash. */
export async function findSelection(db: Db, given: Selected): Promise<Selection | Refusal> {
  if (given.reporter === undefined) return selectionOf(given);
  const reporter = await findReporter(db, String(given.reporter));
  return isRefusal(reporter) ? reporter : selectionOf({ ...given, reporter: reporter.id });
}

/** The changes of a decision, for people. */
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
