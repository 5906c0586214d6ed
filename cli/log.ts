import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { table, time, type Output } from "#cli/output.ts";
import { integer, line, moment } from "#cli/values.ts";
import { listActions, type ActionFilter, type LoggedAction } from "#src/operators/operator-log.ts";

/** `operator log list`: who did what, when. Nothing is ever taken out of it. */
export function logCommand(output: () => Output): Command {
  const command = new Command("log").description("the operator's log");

  command
    .command("list")
    .description("actions of operators, newest first")
    .option("--since <time>", "at this UTC time or later", moment("--since"))
    .option("--until <time>", "before this UTC time", moment("--until"))
    .option("--by <name>", "only actions by this actor", line("--by", 80, "not empty"))
    .option(
      "--action <name>",
      "only this action (key.revoke), or all actions on one kind of subject (key)",
      line("--action", 80, "not empty"),
    )
    .option(
      "--subject <name>",
      "only actions on this subject (key 7)",
      line("--subject", 200, "not empty"),
    )
    .option("--limit <n>", "highest number of actions to show", integer("--limit", 1, 100_000), 100)
    .addHelpText(
      "after",
      examples(
        "log list --since 2026-11-01 --by olga",
        "log list --action key --json",
        'log list --subject "partner 3"',
      ),
    )
    .action(async ({ limit, ...filter }: ActionFilter & { limit: number }) => {
      const actions = await withDb(output(), (db) => listActions(db, filter, limit));
      const { result, note } = output();
      result(actions.map(shown), (list) => table(list, "no matching actions"));
      if (actions.length === limit)
        note(`only the latest ${limit} are shown: use a higher --limit for more`);
    });

  return command;
}

const shown = ({ at, id, ...action }: LoggedAction) => ({ id, at: time(at), ...action });
