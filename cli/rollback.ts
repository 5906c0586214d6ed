import type { Command } from "commander";
import { decideSelected, recordVerbs } from "#cli/batches.ts";
import { verb, yesOption } from "#cli/command.ts";
import type { Output } from "#cli/output.ts";
import { selecting } from "#cli/selection.ts";
import { line } from "#cli/values.ts";

type Typed = Record<string, unknown> & { dryRun: boolean; yes?: boolean; reason?: string };

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
  const read = selecting(rollback);
  rollback
    .option("--dry-run", "only show what would change", false)
    .option("--reason <text>", "why, for the operator's log", line(500, "may be empty"))
    .option(...yesOption)
    .action((typed: Typed) => decideSelected(output(), "rollback", read(typed), typed));
  recordVerbs(rollback, output, ["rollback"], "marks rollback");
}
