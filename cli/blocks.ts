import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { ExitError, type Output, readable, table } from "#cli/output.ts";
import {
  blockNetwork,
  blockReporter,
  listBlocks,
  networkDigits,
} from "#src/marks/source-blocks.ts";

/** `operator network block|list`: viewers' networks whose marks are held (decisions 4.13). */
export function networkCommand(output: () => Output): Command {
  const command = new Command("network").description(
    "networks of the map's viewers, and what is blocked",
  );

  actVerb(command, output, blockNetwork, {
    name: "block",
    about: "hold all marks of a network until a time; `now` ends a block",
    examples: ["network block 3f9ac27b --until 2027-01-15", "network block 3f9ac27b --until now"],
    subject: ["<network>", "the first digits of its hash, as an alarm names it", network],
    ...{ options, shown: readable },
  });

  verb(
    command,
    "list",
    "blocked networks and reporters, what ends first in front",
    "network list",
  ).action(async () => {
    const blocks = await withDb(output(), listBlocks);
    output().result(blocks.map(readable), (list) => table(list, "nothing is blocked"));
  });
  return command;
}

/** `operator reporter block`. */
export const addReporterBlock = (command: Command, output: () => Output): void =>
  actVerb(command, output, blockReporter, {
    name: "block",
    about: "hold all marks of a reporter until a time; `now` ends a block",
    examples: ["reporter block 512 --until 2027-01-15", "reporter block 512 --until now"],
    subject: ["<id>", "the reporter's number, as `review list` shows it"],
    ...{ options, shown: readable },
  });

const options = {
  until: ["--until <time|now>", "UTC time or day when its marks count again"],
} as const;

function network(text: string): string {
  if (!/^[0-9a-f]{8,64}$/i.test(text))
    throw new ExitError(`must be ${networkDigits} hexadecimal digits or more, not "${text}"`);
  return text.toLowerCase();
}
