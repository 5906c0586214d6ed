import { stat } from "node:fs/promises";
import { Command } from "commander";
import { dropRectangles } from "#cli/with-queues.ts";
import { choice, integer, sourceName, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { ExitError, type Output, table } from "#cli/output.ts";
import { cityFormats } from "#src/import/read-cities.ts";
import { importCities } from "#src/import/import-cities.ts";
import type { ImportOptions, ImportSummary } from "#src/import/file-import.ts";

import type { RefusalsFault } from "#src/import/refusals.ts";
import { isFault, type FileFault } from "#src/import/read-text.ts";
import type { Config } from "#src/infrastructure/config.ts";
import { inTransaction, type Db } from "#src/infrastructure/db.ts";
import { logImport } from "#src/operators/operator-log.ts";

/** `operator cities import`. */
export const citiesCommand = (output: () => Output): Command =>
  withImport(
    new Command("cities").description("cities, for searching stations near a city"),
    output,
    { noun: "cities", formats: cityFormats, run: importCities },
  );

interface Kind<Format extends string> {
  noun: string;
  formats: readonly Format[];
  run: (
    db: Db,
    options: ImportOptions<Format>,
  ) => Promise<(ImportSummary & RefusalsFault) | FileFault>;
}

export interface Options<Format> {
  format?: Format;
  source?: string;
  replaceSource: boolean;
  allowRemovals?: number;
  refusals?: string;
  dryRun: boolean;
}

function withImport<Format extends string>(
  command: Command,
  output: () => Output,
  { noun, formats, run }: Kind<Format>,
): Command {
  const importing = verb(
    command,
    "import",
    `import ${noun} from a file; importing the same file again changes nothing`,
    `${noun} import ${noun}.json --format ${formats[0]} --dry-run`,
    `${noun} import ${noun}.json --source north --replace-source`,
  )
    .argument("<file>", `the file with the ${noun}`)
    .option(`--format <${formats.join("|")}>`, "detected from the file by default", choice(formats))
    .option(
      "--source <name>",
      "name of the source of these rows; use a different name for each extract",
      sourceName,
    );
  withRemovals(importing.option(...refusalsOption), noun).action(
    async (path: string, { dryRun, ...options }: Options<Format>) => {
      const { format, source, replaceSource, allowRemovals, refusals } = options;
      const summary = await runImport(
        output(),
        { noun, path, dryRun },
        (db, common) =>
          run(db, { ...common, format, source, replaceSource, allowRemovals, refusals }),
        dropRectangles,
      );
      output().result(summary, (one) =>
        [people(one), ...refusalsPeople(one.refused, refusals)].join("\n"),
      );
      noteRefusals(output(), summary);
    },
  );
  return command;
}

export const refusalsOption = [
  "--refusals <file>",
  "write all rows that are left out to this CSV file",
] as const;

/** Where the rows are that an import has left out. */
export const refusalsPeople = (refused: number, file: string | undefined): string[] =>
  refused === 0
    ? []
    : [
        "",
        file === undefined
          ? "--refusals FILE.csv writes each row that is left out."
          : `Each row that is left out: ${file}`,
      ];

/** Says that the file of the rows that are left out is not complete. */
export function noteRefusals(out: Output, { refusals_fault: fault }: RefusalsFault): void {
  if (fault !== undefined)
    out.note(`--refusals: not all rows that are left out could be written: ${fault}`);
}

/** The options of an import of rows that belong to a source. */
export const withRemovals = (command: Command, noun: string): Command =>
  command
    .option(
      "--replace-source",
      `take ${noun} of this source out of service if they are not in the file`,
      false,
    )
    .option(
      "--allow-removals <n>",
      "how many may go where that is more than a tenth of the source, of a small one ten or half of it",
      integer(0, 10_000_000),
    )
    .option("--dry-run", "only read and compare, change nothing", false);

type Common = Pick<ImportOptions<string>, "path" | "dryRun" | "progress" | "waiting">;

/** Imports one file with its progress on stderr, and writes the result to the operator's log. */
export async function runImport<Summary extends { source: string }>(
  out: Output,
  { noun, path, dryRun }: { noun: string; path: string; dryRun: boolean },
  run: (db: Db, common: Common, config: Config) => Promise<Summary | FileFault>,
  after: (config: Config) => Promise<void> = async () => undefined,
  logged: (summary: Summary) => [noun: string, part: { source: string }][] = (all) => [[noun, all]],
): Promise<Summary> {
  const size = await stat(path).then(
    ({ size: bytes }) => bytes,
    () => null,
  );
  return withDb(out, async (db, config, progress) => {
    const common: Common = {
      path,
      dryRun,
      progress: (step, count, total) => progress.show(step, count, total ?? size),
      waiting: () => out.note(`waiting for another import of ${noun} to end …`),
    };
    const summary = await run(db, common, config);
    if (isFault(summary)) throw new ExitError(summary.fault, summary.brokeOff === true ? 1 : 2);
    if (dryRun) return summary;
    await inTransaction(db, async (tx) => {
      for (const [what, part] of logged(summary)) await logImport(tx, out.actor, what, path, part);
    });
    await after(config);
    return summary;
  });
}

const doubtfulShown = 20;

export function people({ dry_run: dryRun, reasons, doubtful, ...numbers }: ImportSummary): string {
  const notes: Readonly<Record<string, string>> = {
    merged: numbers.merged > 0 ? "  (the same station is in the data twice)" : "",
    refused: why(numbers.refused, reasons),
  };
  const names = ["read", "added", "changed", "unchanged", "merged", "refused", "removed"] as const;
  const { kept_by_hand: kept, renumbered = 0, joined = 0, asked = 0 } = numbers;
  const lines = [
    ...importHead(dryRun, numbers),
    ...names.map((name) => `  ${name.padEnd(9)}  ${numbers[name]}${notes[name] ?? ""}`),
    ...(kept === undefined
      ? []
      : [`  by hand    ${kept}  (values left as an operator has set them)`]),
    ...(renumbered > 0
      ? [`  renumbered ${renumbered}  (new ids of the source; they stay under the old ones)`]
      : []),
    ...(joined > 0 ? [`  joined     ${joined}  (stations of another source too)`] : []),
    ...(asked > 0 ? [`  asked      ${asked}  (pairs that may be one: station doubtful)`] : []),
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

export const importHead = (
  dryRun: boolean,
  { format, source }: { format: string; source: string },
): string[] => [`${dryRun ? "Dry run, nothing changed" : "Done"} (${format}, source "${source}")`];

/** The reasons of `refused` lines with their counts. */
export const why = (refused: number, reasons: Readonly<Record<string, number>>): string => {
  const counts = Object.entries(reasons).map(([reason, count]) => `${reason} ${count}`);
  return refused > 0 ? `  (${counts.join(", ")})` : "";
};
