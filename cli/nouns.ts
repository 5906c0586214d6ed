import type { Command } from "commander";
import { accountCommand } from "#cli/account.ts";
import { citiesCommand } from "#cli/cities.ts";
import { configCommand } from "#cli/config.ts";
import { databaseCommand } from "#cli/database.ts";
import { demoCommand } from "#cli/demo.ts";
import { keyCommand } from "#cli/key.ts";
import { limitRequestCommand } from "#cli/limit-request.ts";
import { logCommand } from "#cli/log.ts";
import { marksCommand } from "#cli/marks.ts";
import { partnerCommand } from "#cli/partner.ts";
import { queuesCommand } from "#cli/queues.ts";
import { reviewCommand } from "#cli/review.ts";
import { stationsCommand } from "#cli/stations.ts";
import { statusesCommand } from "#cli/statuses.ts";
import type { Output } from "#cli/output.ts";

/** What `operator` is about, in the order of its help. */
export const nouns: readonly ((output: () => Output) => Command)[] = [
  accountCommand,
  partnerCommand,
  keyCommand,
  limitRequestCommand,
  stationsCommand,
  citiesCommand,
  statusesCommand,
  reviewCommand,
  marksCommand,
  queuesCommand,
  databaseCommand,
  logCommand,
  configCommand,
  demoCommand,
];
