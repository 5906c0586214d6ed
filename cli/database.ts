import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, type Output } from "#cli/output.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { createProgress } from "#src/infrastructure/progress.ts";
import { markAllChanged } from "#src/feed/mark-all-changed.ts";

/** `operator database restored`: the last step of a restore (docs/operations.md). */
export function databaseCommand(output: () => Output): Command {
  const command = new Command("database").description("the database as a whole");

  command
    .command("restored")
    .description(
      "run after restoring a backup: marks all stations as changed, so that everyone reads them again",
    )
    .addHelpText("after", examples("database restored"))
    .action(async () => {
      const { actor, result } = output();
      const progress = createProgress(output().stderr);
      const done = await withDb(output(), async (db) => {
        const stamped = await markAllChanged(db, (count, total) =>
          progress.show("marking as changed", count, total),
        );
        await inTransaction(db, (tx) =>
          logAction(tx, {
            actor,
            action: "database.restored",
            subject: "database",
            details: { ...stamped },
          }),
        );
        return stamped;
      }).finally(() => progress.end());
      result({ ...done }, card);
    });

  return command;
}
