import { Command } from "commander";
import { confirmed } from "#cli/confirm.ts";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import { integer, markId } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { inTransaction, type Tx } from "#src/infrastructure/db.ts";
import { cleanText } from "#src/import/clean-text.ts";
import { logAction } from "#src/operators/operator-log.ts";
import {
  approveMark,
  type HeldMark,
  listHeld,
  rejectMark,
  type Reviewed,
} from "#src/marks/held.ts";

/** `operator review list|approve|reject`: marks that the mass-`no` review holds back (decisions.md 4). */
export function reviewCommand(output: () => Output): Command {
  const command = new Command("review").description(
    "marks held for review because many new reporters sent `no` through one key",
  );

  command
    .command("list")
    .description("held marks, oldest first")
    .option("--limit <n>", "highest number of marks to show", integer("--limit", 1, 100_000), 1000)
    .addHelpText("after", examples("review list", "review list --limit 50 --json"))
    .action(async ({ limit }: { limit: number }) => {
      const { result, note } = output();
      const { marks, total } = await withDb(output(), (db) => listHeld(db, { limit }));
      // What a stranger typed must not steer the operator's terminal.
      result(marks.map(shown), (list) =>
        table(
          list.map((one) => ({ ...one, comment: cleanText(one.comment, 200) })),
          "no marks are held",
        ),
      );
      if (total > marks.length) note(`${total - marks.length} more: use a higher --limit`);
    });

  decision(command, output, {
    verb: "approve",
    description: "approve a held mark: it counts from the time when it was made",
    decide: approveMark,
  });
  decision(command, output, {
    verb: "reject",
    description: "reject a held mark: it never counts",
    decide: rejectMark,
  });
  return command;
}

interface Verb {
  verb: "approve" | "reject";
  description: string;
  decide: (tx: Tx, id: number) => Promise<Reviewed | null>;
}

function decision(
  command: Command,
  output: () => Output,
  { verb, description, decide }: Verb,
): void {
  command
    .command(verb)
    .description(description)
    .argument("<id>", "the mark's id", markId)
    .option("--yes", "do not ask for confirmation")
    .addHelpText("after", examples(`review ${verb} 91234567890123`))
    .action(async (id: number, { yes }: { yes?: boolean }) => {
      const out = output();
      const { actor, result } = out;
      // What was approved can still be rolled back.
      if (verb === "reject" && !yes && !(await confirmed(out, `Reject mark ${id} permanently?`)))
        throw new Refusal("not rejected", 1);
      const done = await withDb(output(), async (db, config) => {
        const reviewed = await inTransaction(db, async (tx) => {
          const found = await decide(tx, id);
          if (found === null) throw unknown("mark", id, "review list");
          if (!found.held)
            throw new Refusal(
              `mark ${id} is not held: ${words(found.review)}; \`operator review list\` shows the held marks`,
              1,
            );
          await logAction(tx, {
            actor,
            action: `review.${verb}`,
            subject: `mark ${id}`,
            details: { station: found.stationId },
          });
          return found;
        });
        if (verb === "approve") await wakeMarks(config, [reviewed.stationId]);
        return reviewed;
      });
      result({ id, station_id: done.stationId, review: done.review }, card);
    });
}

const words = (review: string): string =>
  review === "none" ? "it was counted without a review" : `it is ${review}`;

const shown = ({ received_at, effective_at, first_seen, ...mark }: HeldMark) => ({
  id: mark.id,
  station_id: mark.station_id,
  status: mark.status,
  received: time(received_at),
  effective: time(effective_at),
  partner_id: mark.partner_id,
  key_id: mark.key_id,
  reporter_id: mark.reporter_id,
  first_seen: time(first_seen),
  remote: mark.remote,
  station: mark.station,
  comment: mark.comment,
});
