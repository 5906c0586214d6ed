import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Command } from "commander";
import { choice, guards, integer, moment, sourceName, verb } from "#cli/command.ts";
import {
  importHead,
  noteRefusals,
  refusalsOption,
  refusalsPeople,
  runImport,
  why,
} from "#cli/import-command.ts";
import { counted, ExitError, type Output } from "#cli/output.ts";
import { wakeMarks } from "#cli/with-queues.ts";
import { hourMs, dayMs } from "#src/domain/units.ts";
import { importStatuses, type StatusSummary } from "#src/import/import-statuses.ts";
import { statusFormats, type StatusFormat } from "#src/import/read-statuses.ts";

interface Options {
  format: StatusFormat;
  stations?: string;
  source?: string;
  maxAgeH: number;
  notSoldDays: number;
  asOf?: number;
  force: string[];
  refusals?: string;
  dryRun: boolean;
}

/** `operator statuses import`: imported statuses, shown where people have marked nothing (decisions 6). */
export function statusesCommand(output: () => Output): Command {
  const command = new Command("statuses").description("statuses from other sources");
  verb(
    command,
    "import",
    "import statuses from a file; importing the same file again changes nothing",
    "statuses import statuses.csv --format csv --dry-run",
    "statuses import fr_ruptures.csv --format fr-ruptures --source fr",
  )
    .argument("<file>", "the file with the statuses")
    .requiredOption(
      `--format <${statusFormats.join("|")}>`,
      "csv: station_id,status,fuels_now,fuels_no,updated; fr-ruptures: French stock-outs",
      choice(statusFormats),
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
      integer(1, 24),
      24,
    )
    .option(
      "--not-sold-days <n>",
      "fr-ruptures: a stock-out of this age or older means that the station does not sell the fuel",
      integer(1, 3650),
      30,
    )
    .option(
      "--as-of <time>",
      "for tests with an old file: treat this UTC time as the present",
      moment,
    )
    .option(
      "--force <list>",
      "guards to ignore; all-no: nearly all are `no`, and the last ones of this source were not",
      guards,
      [],
    )
    .option(...refusalsOption)
    .option("--dry-run", "only read and compare, change nothing", false)
    .action(async (path: string, options: Options) => {
      const { format, maxAgeH, notSoldDays, asOf = null, force, refusals, dryRun } = options;
      const source = options.source ?? (format === "csv" ? "csv" : "fr");
      const stationsPath = format === "csv" ? null : stationsFile(path, options.stations);
      const times = { maxAgeMs: maxAgeH * hourMs, notSoldMs: notSoldDays * dayMs, asOf };
      const of = { format, stationsPath, source, force, refusals };
      const waking: string[] = [];
      const touched = (ids: readonly string[]) => void waking.push(...ids);
      const summary = await runImport(
        output(),
        { noun: "statuses", path, dryRun },
        (db, common, config) => importStatuses(db, config, { ...common, ...times, ...of, touched }),
        (config) => wakeMarks(config, waking),
      );
      output().result(summary, (one) =>
        [statusesPeople(one), ...refusalsPeople(one.refused, refusals)].join("\n"),
      );
      noteRefusals(output(), summary);
    });
  return command;
}

/** `…_ruptures.csv` has its stations in `…_stations.csv`, and `ruptures.csv` in `stations.csv`. */
function stationsFile(path: string, named: string | undefined): string {
  if (named !== undefined) return named;
  const beside = join(dirname(path), basename(path).replace("ruptures", "stations"));
  if (beside !== path && existsSync(beside)) return beside;
  throw new ExitError("--stations: name the file with the positions of the stations");
}

/** The result of an import of statuses, for people. */
export function statusesPeople({ dry_run: dryRun, reasons, ...numbers }: StatusSummary): string {
  const { added, changed, unchanged, behind_marks: behind } = numbers;
  const lines = [
    ...importHead(dryRun, numbers),
    `  read       ${counted(numbers.read, "line")}`,
    `  added      ${counted(added, "station")}${behind > 0 ? `  (${behind} behind people's marks)` : ""}`,
    `  changed    ${counted(changed, "station")}`,
    `  unchanged  ${counted(unchanged, "station")}`,
    `  merged     ${counted(numbers.merged, "further line")} about the same stations`,
    `  left out   ${counted(numbers.refused, "line")}${why(numbers.refused, reasons)}`,
  ];
  if (numbers.moved_h !== null)
    lines.push(
      `All times were moved by ${numbers.moved_h} h: this is a test, the statuses are not true today.`,
    );
  const { "too-old": old = 0, "not-sold-here": older = 0 } = reasons;
  const { "no-station-near": far = 0, "unknown-station": unknown = 0 } = reasons;
  if (added + changed + unchanged === 0) {
    if (far + unknown > 0)
      lines.push("No station of this file is known: import its stations first.");
    else if (old + older > 0)
      lines.push("All statuses in this file are too old to be shown; see --max-age-h and --as-of.");
  }
  return lines.join("\n");
}
