import { Command } from "commander";
import { consent, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { choice, flag, id, line, listLimit, markId, moment, stationId } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import type { ConsoleRollback } from "#src/contract/console.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { listFailed } from "#src/marks/backlog.ts";
import { retryAllMarks, retryMark } from "#src/marks/retry.ts";
import { previewRollback } from "#src/marks/rollback-preview.ts";
import { findReporter, rollBack, type Selection } from "#src/marks/rollback.ts";
import { isNotDone } from "#src/operators/act.ts";

const shownStations = 50;

/** `operator marks rollback|failed|retry`. */
export function marksCommand(output: () => Output): Command {
  const command = new Command("marks").description("withdraw marks, retry failed marks");
  rollbackVerb(command, output);

  verb(
    command,
    "failed",
    "marks that could not be processed",
    "marks failed",
    "marks failed --json",
  )
    .option("--limit <n>", "highest number of marks to show", listLimit, 1000)
    .action(async ({ limit }: { limit: number }) => {
      const failed = await withDb(output(), (db) => listFailed(db, limit));
      output().result(failed.map(readable), (list) => table(list, "no mark has failed"));
    });

  verb(
    command,
    "retry",
    "process a failed mark again, or all failed marks",
    "marks retry 91234567890123",
    "marks retry --all",
  )
    .argument("[id]", "the mark's id", markId)
    .option("--all", "all failed marks", false)
    .action(async (id: number | undefined, { all }: { all: boolean }) => {
      const out = output();
      if ((id === undefined) === !all) throw new Refusal("name one mark, or use --all");
      if (id === undefined) return out.result(await retryAll(out), card);
      const { stationId } = await withDb(out, async (db, config) => {
        const mark = await retryMark(db, out.actor, id);
        if (!isNotDone(mark)) await wakeMarks(config, [mark.stationId]);
        return mark;
      });
      out.result({ id, station_id: stationId, state: "queued" }, card);
    });

  return command;
}

const retryAll = (out: Output): Promise<{ retried_marks: number; stations: number }> =>
  withDb(out, async (db, config, progress) => {
    const waking: string[] = [];
    const sum = await retryAllMarks(db, out.actor, (stationIds, done, total) => {
      waking.push(...stationIds);
      progress.show("retrying", done, total);
    });
    await wakeMarks(config, waking);
    return isNotDone(sum) ? sum : { retried_marks: sum.marks, stations: sum.stations };
  });

interface Options extends Omit<Selection, "reporter"> {
  reporter?: string;
  dryRun: boolean;
  yes?: boolean;
}

/** `operator marks rollback`: withdraws marks as if they had never been made (docs/decisions.md 4). */
const rollbackVerb = (command: Command, output: () => Output): Command =>
  verb(
    command,
    "rollback",
    "withdraw marks as if they had never been made; first shows what would change",
    'marks rollback --key 7 --since "2026-11-21 10:00:00" --dry-run',
    'marks rollback --key 7 --since "2026-11-21 10:00:00" --status no',
  )
    .option("--key <id>", "marks that came through this key", id("key"))
    .option("--partner <id>", "marks of this partner's users", id("partner"))
    .option("--reporter <id|hash>", "marks of this reporter", reporterName)
    .option("--station <id>", "marks at this station", stationId)
    .option("--city <name>", "marks at the stations of this city", line("--city", 200, "not empty"))
    .option("--network <hash>", "marks from this viewer's network, as an alarm names it", network)
    .option(
      `--status <${statuses.join("|")}>`,
      "marks with this status",
      choice("--status", statuses),
    )
    .option(
      "--remote <true|false>",
      "true: marks without a position at the station; false: the others",
      flag("--remote"),
    )
    .option(
      "--first-seen-since <time>",
      "marks of people first seen at this UTC time or later",
      moment("--first-seen-since"),
    )
    .option(
      "--first-seen-until <time>",
      "marks of people first seen before this UTC time",
      moment("--first-seen-until"),
    )
    .option("--since <time>", "marks received at this UTC time or later", moment("--since"))
    .option("--until <time>", "marks received before this UTC time", moment("--until"))
    .option("--dry-run", "only show what would change", false)
    .option(...yesOption)
    .action(async ({ dryRun, yes, reporter: name, ...others }: Options) => {
      const out = output();
      const value = await withDb(out, async (db, config, progress) => {
        const reporter = name === undefined ? undefined : await findReporter(db, name);
        if (reporter !== undefined && isNotDone(reporter)) return reporter;
        const selection = { ...others, reporter: reporter?.id };
        const preview = await previewRollback(db, selection, config, shownStations);
        if (isNotDone(preview)) return preview;
        if (dryRun || preview.marks === 0) return { ...preview, dry_run: dryRun };
        if (!out.json) out.note(`${people(preview)}\n`);
        const question = `Withdraw these ${preview.marks} marks permanently?`;
        await consent(out, yes, question, "nothing withdrawn");
        const waking: string[] = [];
        const sum = await rollBack(db, out.actor, selection, (stationIds, done, total) => {
          waking.push(...stationIds);
          progress.show("withdrawing", done, total);
        });
        if (isNotDone(sum)) return sum;
        await wakeMarks(config, waking);
        return { ...preview, ...sum, dry_run: false };
      });
      out.result(value, (all) =>
        all.dry_run || all.marks === 0
          ? people(all)
          : card({ withdrawn_marks: all.marks, stations: all.stations }),
      );
    });

function people({ marks, held, reporters, stations, changes }: ConsoleRollback): string {
  if (marks === 0) return "no matching marks: nothing to withdraw";
  const sums = `${marks} marks (${held} of them held) of ${reporters} reporters at ${stations} stations`;
  const lines = changes.map(({ station_id, marks: here, before, after }) => ({
    station: station_id,
    marks: here,
    status: arrow(before.status, after.status),
    confirmations: arrow(before.confirmations, after.confirmations),
    pending: arrow(before.pending_status || "-", after.pending_status || "-"),
    updated: arrow(before.updated || "-", after.updated || "-"),
  }));
  const more =
    stations > changes.length ? `\n… and ${stations - changes.length} more stations` : "";
  return `${sums}\n\n${table(lines, "")}${more}`;
}

const arrow = (before: string | number, after: string | number): string =>
  before === after ? String(before) : `${before} → ${after}`;

function reporterName(text: string): string {
  const name = text.trim().toLowerCase();
  if (!/^([1-9]\d{0,14}|[0-9a-f]{64})$/.test(name))
    throw new Refusal(`--reporter must be a reporter's id or the hex of its hash, not "${text}"`);
  return name;
}

/** Alarms name a network by the first eight digits of its hash. */
function network(text: string): string {
  const digits = text.trim().toLowerCase();
  if (!/^[0-9a-f]{8,64}$/.test(digits))
    throw new Refusal(`--network must be 8 to 64 hex digits of a network's hash, not "${text}"`);
  return digits;
}
