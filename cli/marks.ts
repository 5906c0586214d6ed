import { Command } from "commander";
import { doAct } from "#cli/act-verb.ts";
import { line, listLimit, markId, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, type Output, readable, table } from "#cli/output.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { listFailed } from "#src/marks/backlog.ts";
import { retryAllMarks, retryMark } from "#src/marks/retry.ts";
import { decideSelected, recordVerbs } from "#cli/batches.ts";
import { selecting } from "#cli/selection.ts";

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
      if ((id === undefined) === !all) throw new ExitError("name one mark, or use --all");
      if (id === undefined) return out.result(await retryAll(out), card);
      const { stationId } = await doAct(out, retryMark, {}, id);
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
    return isRefusal(sum) ? sum : { retried_marks: sum.marks, stations: sum.stations };
  });

type Typed = Record<string, unknown> & { dryRun: boolean; yes?: boolean; reason?: string };

/** `operator marks rollback [list|show|undo]`: withdraws marks as if they had never been made (decisions 4.12, 4.20). */
function rollbackVerb(command: Command, output: () => Output): void {
  const rollback = verb(
    command,
    "rollback",
    "withdraw marks as if they had never been made; first shows what would change",
    'marks rollback --key 7 --since "2026-11-21 10:00:00" --dry-run',
    'marks rollback --key 7 --since "2026-11-21 10:00:00" --status no',
    "marks rollback list",
    "marks rollback undo 12",
  ).addHelpText(
    "after",
    `
Give at least one of --since, --first-seen-since, --partner, --key, --reporter and --station:
a network, a city, a status or --remote alone would read every day that is kept.`,
  );
  const read = selecting(rollback);
  rollback
    .option("--dry-run", "only show what would change", false)
    .option("--reason <text>", "why, for the operator's log", line(500, "may be empty"))
    .option(...yesOption)
    .action((typed: Typed) => decideSelected(output(), "rollback", read(typed), typed));
  recordVerbs(rollback, output, ["rollback"], "marks rollback");
}
