import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { unknown } from "#cli/refusal.ts";
import { rollbackCommand } from "#cli/rollback.ts";
import { integer, markId } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { listFailed, retryFailed, type FailedMark } from "#src/marks/backlog.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";

/** `operator marks rollback|failed|retry`. */
export function marksCommand(output: () => Output): Command {
  const command = new Command("marks").description("withdraw marks, retry failed marks");
  command.addCommand(rollbackCommand(output));

  command
    .command("failed")
    .description("marks that could not be processed")
    .option("--limit <n>", "highest number of marks to show", integer("--limit", 1, 100_000), 1000)
    .addHelpText("after", examples("marks failed", "marks failed --json"))
    .action(async ({ limit }: { limit: number }) => {
      const failed = await withDb(output(), (db) => listFailed(db, limit));
      output().result(failed.map(shown), (list) => table(list, "no mark has failed"));
    });

  command
    .command("retry")
    .description("process a failed mark again")
    .argument("<id>", "the mark's id", markId)
    .addHelpText("after", examples("marks retry 91234567890123"))
    .action(async (id: number) => {
      const { actor, result } = output();
      const stationId = await withDb(output(), async (db, config) => {
        const station = await inTransaction(db, async (tx) => {
          const found = await retryFailed(tx, id);
          if (found === null) throw unknown("failed mark", id, "marks failed");
          const details = { station: found };
          await logAction(tx, { actor, action: "mark.retry", subject: `mark ${id}`, details });
          return found;
        });
        await wakeMarks(config, [station]);
        return station;
      });
      result({ id, station_id: stationId, state: "queued" }, card);
    });

  return command;
}

const shown = ({ received_at, failed_at, failure, ...mark }: FailedMark) => ({
  ...mark,
  received: time(received_at),
  failed: time(failed_at),
  failure,
});
