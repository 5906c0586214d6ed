import { Command } from "commander";
import { actVerb, doAct } from "#cli/act-verb.ts";
import { decideSelected, recordVerbs } from "#cli/batches.ts";
import { listLimit, markId, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, ExitError, harmless, type Output, readable, table } from "#cli/output.ts";
import { selecting } from "#cli/selection.ts";
import { formatTime } from "#src/domain/time.ts";
import { heldGroups } from "#src/marks/held-groups.ts";
import { listHeld } from "#src/marks/held.ts";
import { reviewMark, undoReview } from "#src/marks/review-mark.ts";

type Word = "approve" | "reject";

/** `operator review list|groups|approve|reject|undo|decisions`: marks that the review holds back (decisions 4). */
export function reviewCommand(output: () => Output): Command {
  const command = new Command("review").description(
    "marks held for review because their source or their city had too many harmful changes",
  );

  verb(command, "list", "held marks, oldest first", "review list", "review list --limit 50 --json")
    .option("--limit <n>", "highest number of marks to show", listLimit, 1000)
    .action(async ({ limit }: { limit: number }) => {
      const { result, note } = output();
      const { marks, total } = await withDb(output(), (db) => listHeld(db, limit));
      result(marks.map(readable), (list) => table(list.map(harmless), "no marks are held"));
      if (total > marks.length) note(`${total - marks.length} more: use a higher --limit`);
    });

  verb(
    command,
    "groups",
    "held marks by source, city and hour, and how far others agree with them",
    "review groups",
  ).action(async () => {
    const groups = await withDb(output(), (db) => heldGroups(db));
    const lines = groups.map((group) => {
      const { key_id, network, partner, city, marks, stations, reporters, agree, disagree } = group;
      return {
        ...{ hour: formatTime(group.hour), key_id, network, partner, city },
        ...{
          marks,
          stations,
          reporters,
          newcomers: group.newcomers,
          ...group.said,
          agree,
          disagree,
        },
      };
    });
    output().result(lines, (list) => table(list, "no marks are held"));
  });

  decisionVerb(
    command,
    output,
    "approve",
    "approve held marks: they count from when they were made",
  );
  decisionVerb(command, output, "reject", "reject held marks: they never count");
  actVerb(command, output, undoReview, {
    name: "undo",
    about: "take the decision about one mark back: it is held again",
    examples: ["review undo 91234567890123"],
    subject: ["<id>", "the mark's id"],
    shown: (mark, id) => ({ id, station_id: mark.stationId, review: mark.review }),
  });
  const decisions = command
    .command("decisions")
    .description("decisions about held marks, and taking them back");
  recordVerbs(decisions, output, ["approve", "reject"], "review decisions");
  return command;
}

type Typed = Record<string, unknown> & { dryRun: boolean; yes?: boolean };

/** One mark by its id, or all held marks of a selection as one decision that can be taken back. */
function decisionVerb(noun: Command, output: () => Output, word: Word, description: string): void {
  const command = verb(
    noun,
    word,
    description,
    `review ${word} 91234567890123`,
    `review ${word} --key 7 --city Moscow --since "2026-11-21 10:00:00" --dry-run`,
    `review ${word} --network 3fa94c01`,
  ).argument("[id]", "one mark's id", markId);
  const read = selecting(command);
  command
    .option("--dry-run", "only show what would change", false)
    .option(...yesOption)
    .action(async (id: number | undefined, typed: Typed) => {
      const selected = read(typed);
      const isSelecting = Object.keys(selected).length > 0;
      if ((id === undefined) === !isSelecting || (id !== undefined && typed.dryRun))
        throw new ExitError("name one mark, or say which: --key, --network, --city, --since …");
      return id === undefined
        ? decideSelected(output(), word, selected, typed)
        : decideOne(output(), word, id);
    });
}

async function decideOne(out: Output, word: Word, id: number) {
  const { stationId, review } = await doAct(out, reviewMark[word], {}, id);
  out.result({ id, station_id: stationId, review }, card);
}
