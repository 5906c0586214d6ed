import { Command } from "commander";
import { dropRectangles, wakeMarks } from "#cli/with-queues.ts";
import { choice, guards, sourceName, verb } from "#cli/command.ts";
import {
  noteRefusals,
  type Options,
  people,
  refusalsOption,
  refusalsPeople,
  runImport,
  withRemovals,
} from "#cli/import-command.ts";
import type { Output } from "#cli/output.ts";
import { mapWords, optedSource } from "#cli/source.ts";
import { statusesPeople } from "#cli/statuses.ts";
import { importSource, type SourceSummary } from "#src/import/import-source.ts";
import { type StationFormat, stationFormats } from "#src/import/import-stations.ts";
import { example } from "#src/import/refusals.ts";
import type { Source } from "#src/import/source.ts";
import { type Chosen, sourceNamed } from "#src/import/source-list.ts";

interface StationOptions extends Options<StationFormat>, Pick<Chosen, "map"> {
  refusals?: string;
  force?: string[];
}

/** `operator stations import`: the files of a source that has a description, or a file of OSM objects. */
export function stationsCommand(output: () => Output): Command {
  const command = new Command("stations").description("filling stations");
  const importing = verb(
    command,
    "import",
    "import stations from files; importing the same files again changes nothing",
    "stations import anagrafica.csv prezzi.csv --source it-mimit --dry-run",
    "stations import stations.json --source north --replace-source",
    "stations import stations.csv --map id=Code,lat=Latitud,lon=Longitud --source my-list",
  )
    .argument("<files...>", "the files of the source in any order, or a folder")
    .option(
      `--format <${stationFormats.join("|")}>`,
      "objects of OpenStreetMap; detected from the file by default",
      choice(stationFormats),
    )
    .option(
      "--source <name>",
      "a description (`source list`) by name or file; any other name is that of an extract of OpenStreetMap",
    )
    .option("--map <ours=column,...>", mapWords)
    .option(...refusalsOption)
    .option("--force <guards>", "override these guards, as their faults name them", guards);
  withRemovals(importing, "stations").action((paths: string[], options: StationOptions) =>
    importFiles(output(), paths, options),
  );
  return command;
}

async function importFiles(out: Output, paths: string[], options: StationOptions): Promise<void> {
  const { dryRun, replaceSource, allowRemovals, refusals, force } = options;
  const described = await chosenFor(options);
  const extract = sourceNamed(`osm${options.format === undefined ? "" : `-${options.format}`}`)!;
  const label =
    described === undefined && options.source !== undefined
      ? sourceName(options.source)
      : undefined;
  const waking: string[] = [];
  const done = await runImport(
    out,
    { noun: "stations", path: paths.join(", "), dryRun },
    (db, { progress, waiting }, config) =>
      importSource(db, config, {
        ...{ source: described ?? extract, paths, label, dryRun, replaceSource, allowRemovals },
        ...{ force, refusals, progress, waiting },
        touched: (ids) => void waking.push(...ids),
      }),
    async (config) => {
      await dropRectangles(config);
      await wakeMarks(config, waking);
    },
    ({ stations, statuses }) => [
      ...(stations === null ? [] : [["stations", stations] as [string, typeof stations]]),
      ...(statuses === null ? [] : [["statuses", statuses] as [string, typeof statuses]]),
    ],
  );
  // An extract has stations alone, and its result is theirs.
  out.result((described ?? extract).as === "osm" ? done.stations! : done, () =>
    summed(done, refusals),
  );
  noteRefusals(out, done);
}

/** The description that the options name; undefined for an extract of OSM under a name of its own. */
async function chosenFor(options: StationOptions): Promise<Source | undefined> {
  const { source, map, format } = options;
  if (map !== undefined) return optedSource(options);
  if (source === undefined || format !== undefined) return undefined;
  return sourceNamed(source) !== undefined || /[./]/.test(source)
    ? optedSource(options)
    : undefined;
}

function summed(done: SourceSummary, refusals?: string): string {
  const { stations, statuses, unknown_fuels: fuels, noted, second_file: second } = done;
  const unknown = Object.entries(fuels).map(([name, count]) => `${name} ${count}`);
  const refused = (stations?.refused ?? 0) + (statuses?.refused ?? 0);
  return [
    ...(stations === null ? [] : [people(stations)]),
    ...(statuses === null ? [] : ["", "Statuses by stock-outs:", statusesPeople(statuses)]),
    ...(unknown.length > 0
      ? ["", `Fuels that the description does not know: ${unknown.join(", ")}`]
      : []),
    ...(second === null ? [] : ["", second]),
    ...Object.entries(noted).map(([one, n]) => `${one} ${n}${example(done.refused_rows, one)}`),
    ...refusalsPeople(refused + Object.keys(noted).length, refusals),
  ].join("\n");
}
