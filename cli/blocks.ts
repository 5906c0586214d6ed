import { Command } from "commander";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, readable, table, type Output } from "#cli/output.ts";
import { ExitError } from "#cli/exit-error.ts";
import { integer, moment, wordOr } from "#cli/values.ts";
import { databaseNow } from "#src/infrastructure/clock.ts";
import { blockNetwork, blockReporter, listBlocks, networkDigits } from "#src/marks/blocks.ts";

/** `operator network block|list`: viewers' networks whose marks are held (decisions 4.13). */
export function networkCommand(output: () => Output): Command {
  const command = new Command("network").description(
    "networks of the map's viewers, and what is blocked",
  );

  withUntil(
    verb(
      command,
      "block",
      "hold all marks of a network until a time; `now` ends a block",
      "network block 3f9ac27b --until 2027-01-15",
      "network block 3f9ac27b --until now",
    ).argument("<network>", "the first digits of its hash, as an alarm names it", network),
  ).action(async (digits: string, { until }: Options) => {
    const out = output();
    const block = await withDb(out, async (db) =>
      blockNetwork(db, out.actor, digits, until === "now" ? null : until, await databaseNow(db)),
    );
    out.result(readable(block), card);
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
export function addReporterBlock(command: Command, output: () => Output): void {
  withUntil(
    verb(
      command,
      "block",
      "hold all marks of a reporter until a time; `now` ends a block",
      "reporter block 512 --until 2027-01-15",
      "reporter block 512 --until now",
    ).argument("<id>", "the reporter's number, as `review list` shows it", reporterId),
  ).action(async (id: number, { until }: Options) => {
    const out = output();
    const block = await withDb(out, async (db) =>
      blockReporter(db, out.actor, id, until === "now" ? null : until, await databaseNow(db)),
    );
    out.result(readable(block), card);
  });
}

interface Options {
  until: number | "now";
}

const withUntil = (command: Command): Command =>
  command.requiredOption(
    "--until <time|now>",
    "UTC time or day when its marks count again",
    wordOr("now", moment),
  );

const reporterId = integer(1, Number.MAX_SAFE_INTEGER);

function network(text: string): string {
  if (!/^[0-9a-f]{8,64}$/i.test(text))
    throw new ExitError(`must be ${networkDigits} hexadecimal digits or more, not "${text}"`);
  return text.toLowerCase();
}
