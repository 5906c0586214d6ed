import { Command } from "commander";
import { consent, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, harmless, readable, table, type Output } from "#cli/output.ts";
import { listLimit, markId } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { listHeld, reviewMark } from "#src/marks/held.ts";

/** `operator review list|approve|reject`: marks that the mass-`no` review holds back (docs/decisions.md 4). */
export function reviewCommand(output: () => Output): Command {
  const command = new Command("review").description(
    "marks held for review because many new reporters sent `no` through one key",
  );

  verb(command, "list", "held marks, oldest first", "review list", "review list --limit 50 --json")
    .option("--limit <n>", "highest number of marks to show", listLimit, 1000)
    .action(async ({ limit }: { limit: number }) => {
      const { result, note } = output();
      const { marks, total } = await withDb(output(), (db) => listHeld(db, limit));
      result(marks.map(readable), (list) => table(list.map(harmless), "no marks are held"));
      if (total > marks.length) note(`${total - marks.length} more: use a higher --limit`);
    });

  for (const [word, description] of [
    ["approve", "approve a held mark: it counts from the time when it was made"],
    ["reject", "reject a held mark: it never counts"],
  ] as const) {
    verb(command, word, description, `review ${word} 91234567890123`)
      .argument("<id>", "the mark's id", markId)
      .option(...yesOption)
      .action(async (id: number, { yes }: { yes?: boolean }) => {
        const out = output();
        // What was approved can still be rolled back.
        if (word === "reject")
          await consent(out, yes, `Reject mark ${id} permanently?`, "not rejected");
        const { stationId, review } = await withDb(out, async (db, config) => {
          const mark = await reviewMark(db, out.actor, id, word);
          if ("review" in mark && word === "approve") await wakeMarks(config, [mark.stationId]);
          return mark;
        });
        out.result({ id, station_id: stationId, review }, card);
      });
  }
  return command;
}
