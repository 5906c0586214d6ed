import { Command } from "commander";
import { line, listLimit, moment, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { readable, table, type Output } from "#cli/output.ts";
import { listActions, type LogFilter } from "#src/operators/operator-log.ts";

/** `operator log list`: operators' acts with their times. Nothing is ever removed from the log. */
export function logCommand(output: () => Output): Command {
  const command = new Command("log").description("the operator's log");
  const part = (maxLength: number) => line(maxLength, "not empty");

  verb(
    command,
    "list",
    "actions of operators, newest first",
    "log list --since 2026-11-01 --by olga",
    "log list --action key --json",
    'log list --subject "partner 3"',
  )
    .option("--since <time>", "at this UTC time or later", moment)
    .option("--until <time>", "before this UTC time", moment)
    .option("--by <name>", "only actions by this actor", part(80))
    .option(
      "--action <name>",
      "only this action (key.revoke), or all actions on one kind of subject (key)",
      part(80),
    )
    .option("--subject <name>", "only actions on this subject (key 7)", part(200))
    .option("--limit <n>", "highest number of actions to show", listLimit, 100)
    .action(async ({ limit, by, ...filter }: LogFilter & { by?: string; limit: number }) => {
      const actions = await withDb(output(), (db) =>
        listActions(db, { ...filter, actor: by }, "exact", limit + 1),
      );
      const { result, note } = output();
      const shown = actions.slice(0, limit);
      result(shown.map(readable), (list) => table(list, "no matching actions"));
      if (actions.length > limit)
        note(`only the latest ${limit} are shown: use a higher --limit for more`);
    });

  return command;
}
