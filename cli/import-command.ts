import { stat } from "node:fs/promises";
import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { table, type Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { choice, sourceName } from "#cli/values.ts";
import { inTransaction, type Db } from "#src/infrastructure/db.ts";
import type { ImportOptions, ImportSummary } from "#src/import/file-import.ts";
import { isFault, type FileFault } from "#src/import/read-text.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { createProgress } from "#src/infrastructure/progress.ts";

interface Kind<Format extends string> {
  noun: string;
  formats: readonly Format[];
  run: (db: Db, options: ImportOptions<Format>) => Promise<ImportSummary | FileFault>;
}

/** The verb `import` of `stations` and `cities`: the same options, progress and summary. */
export function importCommand<Format extends string>(
  output: () => Output,
  kind: Kind<Format>,
): Command {
  const { noun, formats } = kind;
  return new Command("import")
    .description(`import ${noun} from a file; importing the same file again changes nothing`)
    .argument("<file>")
    .option(
      `--format <${formats.join("|")}>`,
      "detected from the file by default",
      choice("--format", formats),
    )
    .option(
      "--source <name>",
      "name of the source of these rows; use a different name for each extract",
      sourceName,
    )
    .option(
      "--replace-source",
      `take ${noun} of this source out of service if they are not in the file`,
      false,
    )
    .option("--dry-run", "only read and compare, change nothing", false)
    .addHelpText(
      "after",
      examples(
        `${noun} import ${noun}.json --format ${formats[0]} --dry-run`,
        `${noun} import ${noun}.json --source north --replace-source`,
      ),
    )
    .action(
      async (
        path: string,
        options: { format?: Format; source?: string; replaceSource: boolean; dryRun: boolean },
      ) => {
        const out = output();
        const { format, source, replaceSource, dryRun } = options;
        const size = await stat(path).then(
          ({ size: bytes }) => bytes,
          () => null,
        );
        const progress = createProgress(output().stderr);
        const summary = await withDb(output(), async (db) => {
          const done = await kind.run(db, {
            path,
            format,
            source,
            replaceSource,
            dryRun,
            progress: (step, count, total) => progress.show(step, count, total ?? size),
            waiting: () => out.note(`waiting for another import of ${noun} to end …`),
          });
          if (!isFault(done) && !dryRun)
            await inTransaction(db, (tx) => logAction(tx, logEntry(out.actor, path, done)));
          return done;
        }).finally(() => progress.end());
        if (isFault(summary)) throw new Refusal(summary.fault);
        out.result(summary, people);
      },
    );

  function logEntry(actor: string, path: string, { doubtful, ...numbers }: ImportSummary) {
    const details = { file: path, ...numbers, doubtful: doubtful.length };
    return { actor, action: `${noun}.import`, subject: `${noun} of ${numbers.source}`, details };
  }
}

const doubtfulShown = 20;

function people({ dry_run: dryRun, reasons, doubtful, ...numbers }: ImportSummary): string {
  const { read, added, changed, unchanged, merged, refused, removed } = numbers;
  const why = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  const lines = [
    `${dryRun ? "Dry run, nothing changed" : "Done"} (${numbers.format}, source "${numbers.source}")`,
    `  read       ${read}`,
    `  added      ${added}`,
    `  changed    ${changed}`,
    `  unchanged  ${unchanged}`,
    `  merged     ${merged}${merged > 0 ? "  (the same station is in the data twice)" : ""}`,
    `  refused    ${refused}${refused > 0 ? `  (${why.join(", ")})` : ""}`,
    `  removed    ${removed}`,
  ];
  if (doubtful.length > 0) {
    const shown = doubtful.slice(0, doubtfulShown).map(({ ids, distance_m, reason }) => ({
      first: ids[0],
      second: ids[1],
      metres: distance_m,
      reason,
    }));
    lines.push(
      "",
      `Possible duplicates, stored as two stations each (${doubtful.length}; --json lists all):`,
      table(shown, ""),
    );
  }
  return lines.join("\n");
}
