import { Command } from "commander";
import { addReporterBlock } from "#cli/blocks.ts";
import type { Output } from "#cli/output.ts";

/** `operator reporter block`. */
export function reporterCommand(output: () => Output): Command {
  const command = new Command("reporter").description("people who mark, by their numbers");
  addReporterBlock(command, output);
  return command;
}
