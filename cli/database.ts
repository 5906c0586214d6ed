import { Command } from "commander";
import { dropRectangles } from "#cli/cached-rectangles.ts";
import { consent, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, type Output } from "#cli/output.ts";
import { noteDatabase, markAllChanged } from "#src/feed/database-identity.ts";
import { idsOfSource, saveStations } from "#src/import/apply-stations.ts";
import { rows } from "#src/infrastructure/db.ts";
import { act } from "#src/operators/act.ts";

/** `operator database restored`: the last step of a restore (docs/operations.md). */
export function databaseCommand(output: () => Output): Command {
  const command = new Command("database").description("the database as a whole");
  verb(
    command,
    "restored",
    "run after restoring a backup: marks all stations as changed, so that everyone reads them again",
    "database restored",
  ).action(async () => {
    const out = output();
    const stamped = await withDb(out, async (db, config, progress) => {
      const value = await markAllChanged(db, (count, total) =>
        progress.show("marking as changed", count, total),
      );
      await dropRectangles(config);
      const entry = { action: "database.restored", subject: "database", details: value };
      return act(db, out.actor, async (tx) => {
        await noteDatabase(tx);
        return { value, ...entry };
      });
    });
    out.result({ ...stamped }, card);
  });
  return command;
}

/** `operator demo remove`: removes the demo country when real data has come. */
export function demoCommand(output: () => Output): Command {
  const command = new Command("demo").description("the demo country");
  verb(
    command,
    "remove",
    "take the demo stations out of service and remove the demo cities",
    "demo remove",
  )
    .option(...yesOption)
    .action(async ({ yes }: { yes?: boolean }) => {
      const out = output();
      await consent(out, yes, "Remove the demo country permanently?", "nothing removed");
      const removed = await withDb(out, async (db, config, progress) => {
        const { inService: ids } = await idsOfSource(db, "demo");
        const { removed: stations } = await saveStations(db, "demo", { gone: ids }, false, (done) =>
          progress.show("removing", done, ids.length),
        );
        await dropRectangles(config);
        return act(db, out.actor, async (tx) => {
          const cities = await rows(tx, "delete from cities where source = 'demo' returning id");
          await tx.raw("select pg_notify('cities', '')");
          const value = { stations, cities: cities.length };
          return { value, action: "demo.remove", subject: "demo country", details: value };
        });
      });
      out.result(removed, card);
    });
  return command;
}
