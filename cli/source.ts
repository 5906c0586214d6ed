import { Command } from "commander";
import { doAct } from "#cli/act-verb.ts";
import { sourceName, verb } from "#cli/command.ts";
import { card, counted, ExitError, type Output, table } from "#cli/output.ts";
import { withDb } from "#cli/instance.ts";
import { why } from "#cli/import-command.ts";
import { fileField, fileFields } from "#cli/station.ts";
import { entries } from "#src/contract/query.ts";
import { asFault, isFault } from "#src/import/read-text.ts";
import type { Source } from "#src/import/source.ts";
import { type Chosen, chosenSource, shippedSources } from "#src/import/source-list.ts";
import { trySource, type Tried } from "#src/import/try-source.ts";
import { readFieldSources, setFieldSources } from "#src/stations/shown-fields.ts";
import { guessSource } from "#src/import/guess-source.ts";

export const mapWords =
  "a CSV without a description: our fields and its columns, lat=Latitud,lon=Longitud,id=Code";

/** `operator source`: descriptions of sources, and what a file gives with one. */
export function sourceCommand(output: () => Output): Command {
  const command = new Command("source").description("descriptions of sources of stations");
  verb(command, "list", "the descriptions that come with Fuelmark", "source list").action(() =>
    output().result(shippedSources, (all) =>
      table(
        all.map(({ name, country = "", every = "", title }) => ({ name, country, every, title })),
        "",
      ),
    ),
  );
  verb(
    command,
    "show",
    "one description as JSON, to copy and change",
    "source show it-mimit",
    "source show --map id=Code,lat=Latitud,lon=Longitud",
  )
    .argument("[name]", "its name, or a file")
    .option("--map <ours=column,...>", mapWords)
    .action(async (name: string | undefined, { map }: Chosen) => {
      const chosen = await optedSource({ source: name, map });
      if (chosen === undefined) throw new ExitError("name a source, or columns with --map");
      output().result(chosen, (one) => JSON.stringify(one, null, 2));
    });
  verb(command, "check", "check a description of your own", "source check my-country.json")
    .argument("<file>", "the JSON file")
    .action(async (path: string) => {
      const { name, title, files } = (await optedSource({ source: path }))!;
      const shown = {
        name,
        title,
        files: files.map((file) => file.name),
        verdict: "a good description",
      };
      output().result(shown, card);
    });
  verb(
    command,
    "try",
    "read files without a database: the first stations as they would be stored, and a verdict",
    "source try anagrafica.csv prezzi.csv --source it-mimit",
    "source try stations.csv --map id=Code,lat=Latitud,lon=Longitud,brand=Rotulo",
  )
    .argument("<files...>", "the files of the source in any order, or a folder")
    .option("--source <name>", "a description by name or file; guessed by default")
    .option("--map <ours=column,...>", mapWords)
    .action(async (paths: string[], options: Chosen) => {
      const source =
        (await optedSource(options)) ?? (await orExit(paths[0]!, () => guessSource(paths)));
      const tried = await orExit(paths.join(", "), () => trySource(source, paths));
      const said =
        options.map === undefined
          ? `--source ${options.source ?? source.name}`
          : `--map ${options.map}`;
      const next = `npm run operator -- stations import ${paths.join(" ")} ${said} --dry-run`;
      output().result(tried, (all) => `${people(all)}\nNext: ${next}`);
    });
  verb(
    command,
    "fields",
    "which source wins a field of stations that several sources have, the first one that says something",
    "source fields",
    "source fields name osm,it-mimit",
    'source fields name ""',
  )
    .argument("[field]", Object.keys(fileFields).join(", "), fileField)
    .argument(
      "[sources]",
      'names of sources; "" for the own source of each station',
      (text: string) => entries(text).map(sourceName),
    )
    .action(async (field: keyof typeof fileFields | undefined, sources: string[] | undefined) => {
      const out = output();
      if (field === undefined) {
        const rules = await withDb(out, readFieldSources);
        const shown = [...rules].map(([name, order]) => ({ field: name, sources: order.join() }));
        return out.result(shown, (list) =>
          table(list, "no rules: each station shows its own source"),
        );
      }
      if (sources === undefined) throw new ExitError("name the sources of the field");
      const done = await doAct(out, setFieldSources, { sources }, fileFields[field]);
      return out.result(done, card);
    });
  return command;
}

/** The result of `find`, whose faults end the command. */
export async function orExit<T extends object>(path: string, find: () => Promise<T>): Promise<T> {
  const found = await asFault(path, find);
  if (isFault(found)) throw new ExitError(found.fault);
  return found;
}

/** The description that was chosen by its name, its file or a map; undefined if none was. */
export const optedSource = async (options: Chosen): Promise<Source | undefined> =>
  (await orExit(options.source ?? "--map", async () => ({ found: await chosenSource(options) })))
    .found;

const share = (part: number, of: number): string =>
  `${Math.round((100 * part) / Math.max(1, of))} %`;

function people({
  source,
  read,
  stations,
  refused,
  reasons,
  coverage,
  grades,
  unknown_fuels: fuels,
  brands_unknown: brands,
  unused,
  first,
  refused_rows: rows,
  stock,
  verdict,
}: Tried): string {
  const sold = Object.entries(grades).map(([grade, n]) => `${grade} ${share(n, stations)}`);
  const unknown = Object.entries(fuels).map(([name, n]) => `${name} (${n})`);
  const left = Object.entries(reasons).map(([reason, n]) => `${reason} ${n}`);
  return [
    `${source}: ${counted(stations, "station")} of ${counted(read, "record")}${refused > 0 ? `; left out ${left.join(", ")}` : ""}`,
    "",
    table(first, "no station"),
    "",
    `Filled:   ${Object.entries(coverage)
      .map(([field, n]) => `${field} ${share(n, stations)}`)
      .join(", ")}`,
    `Sold:     ${sold.length > 0 ? sold.join(", ") : "not said"}`,
    ...(unknown.length > 0 ? [`Unknown fuels: ${unknown.join(", ")}`] : []),
    ...(stock === null ? [] : [`Stock-outs: ${stock.read}${why(stock.refused, stock.reasons)}`]),
    `Brands that no list knows: ${share(brands, stations)}`,
    `Unused:   ${unused.length > 0 ? unused.join(", ") : "nothing"}`,
    ...(rows.length > 0 ? ["", "Left out or unclear, first:", table(rows.slice(0, 10), "")] : []),
    "",
    verdict,
  ].join("\n");
}
