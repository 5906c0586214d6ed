import { Command } from "commander";
import { doAct } from "#cli/act-verb.ts";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import { ExitError } from "#cli/exit-error.ts";
import { rollbackVerb } from "#cli/rollback.ts";
import { listLimit, markId } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { listFailed } from "#src/marks/backlog.ts";
import { retryAllMarks, retryMark } from "#src/marks/retry.ts";

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
