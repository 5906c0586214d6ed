import type { Command } from "commander";
import { decideTogether, recordVerbs } from "#cli/batches.ts";
import { consent, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, counted, type Output } from "#cli/output.ts";
import {
  previewText,
  selecting,
  type SelectionOptions,
  selectionOf,
  shownStations,
} from "#cli/selection.ts";
import type { ConsoleRollback } from "#src/contract/console.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { previewRollback } from "#src/marks/effects.ts";

interface Options extends SelectionOptions {
  dryRun: boolean;
  yes?: boolean;
}

const people = (preview: ConsoleRollback): string =>
  previewText(preview, "no matching marks: nothing to withdraw");

/** `operator marks rollback [list|show|undo]`: withdraws marks as if they had never been made (decisions 4.12, 4.20). */
export function rollbackVerb(command: Command, output: () => Output): void {
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
  selecting(rollback)
    .option("--dry-run", "only show what would change", false)
    .option(...yesOption)
    .action(async ({ dryRun, yes, ...options }: Options) => {
      const out = output();
      const value = await withDb(out, async (db, config, progress) => {
        const selection = await selectionOf(db, options);
        if (isRefusal(selection)) return selection;
        const preview = await previewRollback(db, selection, config, shownStations);
        if (isRefusal(preview)) return preview;
        if (dryRun || preview.marks === 0) return { ...preview, id: null, dry_run: dryRun };
        if (!out.json) out.note(`${people(preview)}\n`);
        const question = `Withdraw ${counted(preview.marks, "mark")}?`;
        await consent(out, yes, question, "nothing withdrawn");
        const sum = await decideTogether(out, { db, config, progress }, "rollback", selection);
        return isRefusal(sum) ? sum : { ...preview, ...sum, dry_run: false };
      });
      out.result(value, (all) =>
        all.dry_run || all.marks === 0
          ? people(all)
          : card({ rollback: all.id, withdrawn_marks: all.marks, stations: all.stations }),
      );
    });
  recordVerbs(rollback, output, ["rollback"], "marks rollback");
}
