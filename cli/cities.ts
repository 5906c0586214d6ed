import { Command } from "commander";
import { importCommand } from "#cli/import-command.ts";
import type { Output } from "#cli/output.ts";
import { cityFormats } from "#src/import/read-cities.ts";
import { importCities } from "#src/import/import-cities.ts";

/** `operator cities import`. */
export const citiesCommand = (output: () => Output): Command =>
  new Command("cities").description("cities, for searching stations near a city").addCommand(
    importCommand(output, {
      noun: "cities",
      formats: cityFormats,
      run: importCities,
    }),
  );
