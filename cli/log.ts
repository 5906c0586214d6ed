import { Command } from "commander";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { readable, table, type Output } from "#cli/output.ts";
import { line, listLimit, moment } from "#cli/values.ts";
import { listActions, type LogFilter } from "#src/operators/operator-log.ts";

/** `operator log list`: who did what, when. Nothing is ever taken out of it. */
export function logCommand(output: () => Output): Command {
  const command = new Command("log").description("what operators did");
  const part = (what: string, maxLength: number) => line(what, maxLength, "not empty");

  verb(
    command,
    "list",
    "operators' actions, newest first",
    "log list --since 2026-11-01 --by olga",
    "log list --action key --json",
    'log list --subject "partner 3"',
  )
    .option("--since <time>", "at this UTC time or later", moment("--since"))
    .option("--until <time>", "before this UTC time", moment("--until"))
    .option("--by <name>", "of this actor", part("--by", 80))
    .option(
      "--action <name>",
      "this action (key.revoke), or all of a noun (key)",
      part("--action", 80),
    )
    .option("--subject <name>", "on this (key 7)", part("--subject", 200))
    .option("--limit <n>", "at most so many", listLimit, 100)
    .action(async ({ limit, by, ...filter }: LogFilter & { by?: string; limit: number }) => {
      const actions = await withDb(output(), (db) =>
        listActions(db, { ...filter, actor: by }, "exact", limit),
      );
      const { result, note } = output();
      result(actions.map(readable), (list) => table(list, "nothing was done that fits"));
      if (actions.length === limit) note(`only the latest ${limit}: raise --limit for more`);
    });

  return command;
}
