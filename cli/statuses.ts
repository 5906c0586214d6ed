import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Command } from "commander";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import type { Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { choice, integer, moment, sourceName } from "#cli/values.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { inTransaction } from "#src/infrastructure/db.ts";
import { hourMs, dayMs } from "#src/domain/units.ts";
import { importStatuses, type StatusSummary } from "#src/import/import-statuses.ts";
import { statusFormats, type StatusFormat } from "#src/import/statuses-read.ts";
import { isFault } from "#src/import/read-text.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { createProgress } from "#src/infrastructure/progress.ts";

interface Options {
  format: StatusFormat;
  stations?: string;
  source?: string;
  maxAgeH: number;
  notSoldDays: number;
  asOf?: number;
  dryRun: boolean;
}

/** `operator statuses import`: imported statuses, shown where people have marked nothing (decisions.md 6). */
export const statusesCommand = (output: () => Output): Command =>
  new Command("statuses").description("statuses from other sources").addCommand(importVerb(output));

const importVerb = (output: () => Output): Command =>
  new Command("import")
    .description("import statuses from a file; importing the same file again changes nothing")
    .argument("<file>")
    .requiredOption(
      `--format <${statusFormats.join("|")}>`,
      "csv: station_id,status,fuels_now,fuels_no,updated; fr-ruptures: French stock-outs",
      choice("--format", statusFormats),
    )
    .option(
      "--stations <file>",
      "fr-ruptures: the file of the stations; by default the one next to the file",
    )
    .option(
      "--source <name>",
      "name of the source; also the prefix of its ids: <source>-<id>",
      sourceName,
    )
    .option(
      "--max-age-h <n>",
      "leave out statuses that are older than this many hours",
      integer("--max-age-h", 1, 24),
      24,
    )
    .option(
      "--not-sold-days <n>",
      "fr-ruptures: a stock-out of this age or older means that the station does not sell the fuel",
      integer("--not-sold-days", 1, 3650),
      30,
    )
    .option(
      "--as-of <time>",
      "for tests with an old file: treat this UTC time as the present",
      moment("--as-of"),
    )
    .option("--dry-run", "only read and compare, change nothing", false)
    .addHelpText(
      "after",
      examples(
        "statuses import statuses.csv --format csv --dry-run",
        "statuses import fr_ruptures.csv --format fr-ruptures --source fr",
      ),
    )
    .action(async (path: string, options: Options) => {
      const out = output();
      const { format, maxAgeH, notSoldDays, asOf = null, dryRun } = options;
      const source = options.source ?? (format === "csv" ? "csv" : "fr");
      const stationsPath = format === "csv" ? null : stationsFile(path, options.stations);
      const size = await stat(path).then(
        ({ size: bytes }) => bytes,
        () => null,
      );
      const progress = createProgress(output().stderr);
      const waking: string[] = [];
      const summary = await withDb(output(), async (db, config) => {
        const done = await importStatuses(db, config, {
          path,
          format,
          stationsPath,
          source,
          maxAgeMs: maxAgeH * hourMs,
          notSoldMs: notSoldDays * dayMs,
          asOf,
          dryRun,
          progress: (step, count, total) => progress.show(step, count, total ?? size),
          waiting: () => out.note("waiting for another import of statuses to end …"),
          touched: (ids) => waking.push(...ids),
        });
        if (!isFault(done) && !dryRun) {
          await inTransaction(db, (tx) =>
            logAction(tx, {
              actor: out.actor,
              action: "statuses.import",
              subject: `statuses of ${source}`,
              details: { file: path, ...done },
            }),
          );
          await wakeMarks(config, waking);
        }
        return done;
      }).finally(() => progress.end());
      if (isFault(summary)) throw new Refusal(summary.fault);
      out.result(summary, people);
    });

/** `…_ruptures.csv` has its stations in `…_stations.csv`, and `ruptures.csv` in `stations.csv`. */
function stationsFile(path: string, given: string | undefined): string {
  if (given !== undefined) return given;
  const beside = join(dirname(path), basename(path).replace("ruptures", "stations"));
  if (beside !== path && existsSync(beside)) return beside;
  throw new Refusal("--stations: name the file with the positions of the stations");
}

function people({ dry_run: dryRun, reasons, ...numbers }: StatusSummary): string {
  const { read, added, changed, unchanged, merged, refused } = numbers;
  const why = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  const behind =
    numbers.behind_marks > 0 ? `  (${numbers.behind_marks} behind people's marks)` : "";
  const lines = [
    `${dryRun ? "Dry run, nothing changed" : "Done"} (${numbers.format}, source "${numbers.source}")`,
    `  read       ${read} lines`,
    `  added      ${added} stations${behind}`,
    `  changed    ${changed} stations`,
    `  unchanged  ${unchanged} stations`,
    `  merged     ${merged} further lines about the same stations`,
    `  left out   ${refused} lines${refused > 0 ? `  (${why.join(", ")})` : ""}`,
  ];
  if (numbers.moved_h !== null)
    lines.push(
      `All times were moved by ${numbers.moved_h} h: this is a test, the statuses are not true today.`,
    );
  const { "too-old": old = 0, "not-sold-here": older = 0 } = reasons;
  const { "no-station-near": far = 0, "unknown-station": unknown = 0 } = reasons;
  if (added + changed + unchanged === 0) {
    if (far + unknown > 0)
      lines.push("All stations of this file are unknown: import its stations first.");
    else if (old + older > 0)
      lines.push("All statuses in this file are too old to be shown; see --max-age-h and --as-of.");
  }
  return lines.join("\n");
}
