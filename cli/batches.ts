import type { Command } from "commander";
import { consent, id, listLimit, verb, yesOption } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, counted, readable, table, type Output } from "#cli/output.ts";
import { changesText, findSelection, previewText, shownStations } from "#cli/selection.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import type { ConsoleBatch } from "#src/contract/console-review.ts";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { formatTime } from "#src/domain/time.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { Progress } from "#src/infrastructure/progress.ts";
import {
  type Batch,
  type BatchAct,
  batchActs,
  type Committed,
  decideBatch,
  listBatches,
} from "#src/marks/bulk-decisions.ts";
import { previewApproval, previewRollback, showBatch } from "#src/marks/effects.ts";
import { readableSelection, type Selected } from "#src/marks/mark-selection.ts";
import { undoDecision } from "#src/marks/undo-decision.ts";

const held = {
  preview: previewApproval,
  none: "no matching marks are held",
  otherwise: "nothing decided",
  card: ({ id, marks, stations }: Sum) => ({ decision: id, decided_marks: marks, stations }),
};
const deciding = {
  approve: { verb: "Approve", ...held },
  reject: { verb: "Reject", ...held },
  rollback: {
    verb: "Withdraw",
    preview: previewRollback,
    none: "no matching marks: nothing to withdraw",
    otherwise: "nothing withdrawn",
    card: ({ id, marks, stations }: Sum) => ({ rollback: id, withdrawn_marks: marks, stations }),
  },
};

interface Sum {
  id: number | null;
  marks: number;
  stations: number;
}

/** Shows the changes of a decision about selected marks, asks, decides, and wakes the marks workers. */
export async function decideSelected(
  out: Output,
  act: BatchAct,
  given: Selected,
  { dryRun, yes, reason }: { dryRun: boolean; yes?: boolean; reason?: string },
): Promise<void> {
  const { verb, preview, none, otherwise, card: sumOf } = deciding[act];
  const value = await withDb(out, async (db, config, progress) => {
    const selection = await findSelection(db, given);
    if (isRefusal(selection)) return selection;
    const seen = await preview(db, selection, config, shownStations);
    if (isRefusal(seen)) return seen;
    if (dryRun || seen.marks === 0) return { ...seen, id: null, dry_run: dryRun };
    if (!out.json) out.note(`${previewText(seen, none)}\n`);
    await consent(out, yes, `${verb} ${counted(seen.marks, "mark")}?`, otherwise);
    const sum = await waking(config, progress, batchActs[act].becomes, (committed) =>
      decideBatch(db, out.actor, act, selection, committed, reason),
    );
    return isRefusal(sum) ? sum : { ...seen, ...sum, dry_run: false };
  });
  out.result(value, (all) =>
    all.dry_run || all.marks === 0 ? previewText(all, none) : card(sumOf(all)),
  );
}

async function waking<T extends object>(
  config: Config,
  progress: Progress,
  step: string,
  work: (committed: Committed) => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const touched: string[] = [];
  const done = await work((stationIds, count, total) => {
    touched.push(...stationIds);
    progress.show(step, count, total);
  });
  await wakeMarks(config, touched);
  return done;
}

/** `list`, `show` and `undo` of the decisions of these acts; `noun` is the typed command. */
export function recordVerbs(
  command: Command,
  output: () => Output,
  acts: readonly [BatchAct, ...BatchAct[]],
  noun: string,
): void {
  const { what } = batchActs[acts[0]];
  verb(command, "list", `each ${what}, the newest first`, `${noun} list`, `${noun} list --json`)
    .option("--limit <n>", "highest number to show", listLimit, 50)
    .action(async ({ limit }: { limit: number }) => {
      const found = await withDb(output(), (db) => listBatches(db, acts, limit));
      output().result(found.map(recordOf), (list) =>
        table(
          list.map((one) => ({ ...one, selection: JSON.stringify(one.selection) })),
          `no ${what} yet`,
        ),
      );
    });

  verb(command, "show", `one ${what}, and what it changes as of now`, `${noun} show 12`)
    .argument("<id>", `the ${what}'s id`, id)
    .action(async (number: number) => {
      const found = await withDb(output(), (db, config) =>
        showBatch(db, acts, number, config, shownStations),
      );
      output().result(withTimes(found), ({ changes, ...record }) =>
        found.undone === null && found.act !== "reject"
          ? `${card(record)}\n\nwithout it → with it\n${changesText(changes)}`
          : card(record),
      );
    });

  verb(
    command,
    "undo",
    `take a ${what} back: its marks are what they were before, marks since then keep their effect`,
    `${noun} undo 12`,
  )
    .argument("<id>", `the ${what}'s id`, id)
    .option(...yesOption)
    .action(async (number: number, { yes }: { yes?: boolean }) => {
      const out = output();
      const value = await withDb(out, async (db, config, progress) => {
        const found = await showBatch(db, acts, number, config, shownStations);
        if (isRefusal(found)) return found;
        if (!out.json && found.undone === null)
          out.note(`${changesText(found.changes.map(turned))}\n`);
        await consent(out, yes, `Take ${what} ${number} back?`, "not taken back");
        return waking(config, progress, "taking back", (committed) =>
          undoDecision(db, out.actor, acts, number, committed),
        );
      });
      const { id: record, marks: restored_marks, ...others } = value;
      out.result({ id: record, restored_marks, ...others }, card);
    });
}

/** A change from now to the state after the decision is taken back. */
const turned = <T extends { before: unknown; after: unknown }>(change: T): T => ({
  ...change,
  before: change.after,
  after: change.before,
});

const recordOf = (batch: Batch) =>
  readable({ ...batch, selection: readableSelection(batch.selection) });

const withTimes = (batch: ConsoleBatch) => {
  const { started, finished, undo, undone } = batch;
  const text = (at: number | null) => (at === null ? null : formatTime(at));
  return {
    ...batch,
    selection: readableSelection(batch.selection),
    ...{ started: text(started), finished: text(finished) },
    ...{ undo: text(undo), undone: text(undone) },
  };
};
