import { Command } from "commander";
import { confirmed } from "#cli/confirm.ts";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, type Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { inTransaction, rows } from "#src/infrastructure/db.ts";
import { idsInService, removeStations } from "#src/import/apply-stations.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { createProgress } from "#src/infrastructure/progress.ts";

/** `operator demo remove`: takes the demo country away when real data has come. */
export const demoCommand = (output: () => Output): Command =>
  new Command("demo").description("the demo country").addCommand(removeCommand(output));

const removeCommand = (output: () => Output): Command =>
  new Command("remove")
    .description("take the demo stations out of service and remove the demo cities")
    .option("--yes", "do not ask for confirmation")
    .addHelpText("after", examples("demo remove"))
    .action(async ({ yes }: { yes?: boolean }) => {
      const out = output();
      const { actor, result } = out;
      const question = "Remove the demo country permanently?";
      if (!yes && !(await confirmed(out, question))) throw new Refusal("nothing removed", 1);
      const progress = createProgress(output().stderr);
      const removed = await withDb(output(), async (db) => {
        const ids = await idsInService(db, "demo");
        const stations = await removeStations(db, "demo", ids, (done) =>
          progress.show("removing", done, ids.length),
        );
        return inTransaction(db, async (tx) => {
          const cities = (await rows(tx, "delete from cities where source = 'demo' returning id"))
            .length;
          await tx.raw("select pg_notify('cities', '')");
          await logAction(tx, {
            actor,
            action: "demo.remove",
            subject: "demo country",
            details: { stations, cities },
          });
          return { stations, cities };
        });
      }).finally(() => progress.end());
      result(removed, card);
    });
