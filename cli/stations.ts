import { Command } from "commander";
import { importCommand } from "#cli/import-command.ts";
import type { Output } from "#cli/output.ts";
import { importStations } from "#src/import/import-stations.ts";
import { stationFormats } from "#src/import/read-stations.ts";

/** `operator stations import`. */
export const stationsCommand = (output: () => Output): Command =>
  new Command("stations").description("filling stations").addCommand(
    importCommand(output, {
      noun: "stations",
      formats: stationFormats,
      run: importStations,
    }),
  );
