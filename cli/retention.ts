import { Command } from "commander";
import { doAct } from "#cli/act-verb.ts";
import { line, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, type Output } from "#cli/output.ts";
import { formatTime } from "#src/domain/time.ts";
import { allowRetention, countedMost, listRetentionAsks } from "#src/operators/retention-asks.ts";

const words = (word: string, before?: string): string =>
  line(80, "not empty")(before === undefined ? word : `${before} ${word}`);

/** `operator retention show|allow`: data that is due for deletion, but unusually late (decisions 21.10). */
export function retentionCommand(output: () => Output): Command {
  const command = new Command("retention").description(
    "old data that waits for an operator before it is deleted",
  );

  verb(
    command,
    "show",
    "what waits: how many rows (counted up to a million) or days of marks, how old, and the time before which all would go",
    "retention show",
    "retention show --json",
  ).action(async () => {
    const asks = await withDb(output(), listRetentionAsks);
    const lines = asks.map(({ step, asked, count, oldest, keptFrom, allowed }) => ({
      ...{ step, count, oldest: formatTime(oldest), before: formatTime(keptFrom) },
      ...{ asked: formatTime(asked), allowed: allowed === null ? null : formatTime(allowed) },
    }));
    output().result(lines, (list) => {
      const most = `more than ${countedMost}`;
      const said = list.map((ask) => ({
        ...ask,
        count: ask.count > countedMost ? most : ask.count,
      }));
      return table(said, "nothing waits");
    });
  });

  verb(
    command,
    "allow",
    "let upkeep delete what waits, once; look at `retention show` and at the clock of the database first",
    "retention allow opinions",
    "retention allow external ids",
  )
    .argument("<step...>", "what may be deleted, as `retention show` names it", words)
    .action(async (step: string) => {
      const out = output();
      out.result(await doAct(out, allowRetention, { step }, undefined), card);
    });
  return command;
}
