import { resolve } from "node:path";
import { Command } from "commander";
import { verb } from "#cli/command.ts";
import type { Output } from "#cli/output.ts";
import { Refusal } from "#cli/refusal.ts";
import { type BasemapSummary, buildBasemap } from "#src/import/basemap/build-basemap.ts";
import { isFault } from "#src/import/read-text.ts";
import { createProgress } from "#src/infrastructure/progress.ts";

/** `operator basemap build`: streets for the map, from an extract of OpenStreetMap (docs/decisions.md 15.39). */
export function basemapCommand(output: () => Output): Command {
  const command = new Command("basemap").description("the map under the stations");
  verb(
    command,
    "build",
    "make a base map with roads, water, places and borders from an extract of OpenStreetMap",
    "basemap build country.osm.pbf",
    "basemap build country.osm.pbf --out /srv/fuelmark/streets.pmtiles",
  )
    .argument("<file>", "an extract in the PBF format (.osm.pbf)")
    .option("--out <file>", "the file to make; by default beside the extract, as .pmtiles")
    .action(async (path: string, { out: asked }: { out?: string }) => {
      const out = resolve(asked ?? path.replace(/(\.osm)?(\.pbf)?$/i, ".pmtiles"));
      if (!/\.pmtiles$/i.test(out)) throw new Refusal("--out: must end in .pmtiles");
      const progress = createProgress(output().stderr);
      try {
        const made = await buildBasemap({ path, out, show: progress.show });
        if (isFault(made)) throw new Refusal(made.fault);
        progress.end();
        output().result(made, people);
      } finally {
        progress.end();
      }
    });
  return command;
}

function people({ file, bytes, ...counts }: BasemapSummary): string {
  const names = ["roads", "water", "places", "boundaries", "broken", "points"] as const;
  const notes: Readonly<Record<string, string>> = {
    broken: counts.broken > 0 ? "  (waters whose outlines are not whole, left out)" : "",
  };
  return [
    `Made ${file} (${(bytes / 1e6).toFixed(1)} MB)`,
    ...names.map((name) => `  ${name.padEnd(10)}  ${counts[name]}${notes[name] ?? ""}`),
    "",
    `To use it: set BASEMAP=${file} for each web process, and start it again.`,
  ].join("\n");
}
