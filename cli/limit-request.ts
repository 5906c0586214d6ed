import { Command } from "commander";
import { actVerb } from "#cli/act-verb.ts";
import { choice, id, listLimit, verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { harmless, readable, table, type Output } from "#cli/output.ts";
import { refuseAbsentPartner } from "#src/keys/partners.ts";
import {
  approveLimitRequest,
  limitRequestStatuses,
  listLimitRequests,
  rejectLimitRequest,
  undoLimitDecision,
} from "#src/limits/limit-requests.ts";

type ListFilter = Parameters<typeof listLimitRequests>[1];

/** `operator limit-request list|approve|reject|undo` (docs/contract.md 3.3). */
export function limitRequestCommand(output: () => Output): Command {
  const command = new Command("limit-request").description("partners' requests for other limits");

  verb(command, "list", "requests, newest first", "limit-request list --status pending")
    .option("--partner <id>", "only of this partner", id)
    .option(
      "--status <pending|approved|rejected|withdrawn>",
      "only with this status",
      choice(limitRequestStatuses),
    )
    .option("--limit <n>", "highest number of requests to show", listLimit, 1000)
    .action(async ({ limit, ...only }: ListFilter & { limit: number }) => {
      const requests = await withDb(
        output(),
        async (db) =>
          (await refuseAbsentPartner(db, only.partner)) ?? listLimitRequests(db, only, limit),
      );
      output().result(requests.map(readable), (list) =>
        table(list.map(harmless), "no limit requests"),
      );
    });

  const subject = ["<id>", "the request's id"] as const;
  const comment = ["--comment <text>", "a comment for the partner"] as const;
  actVerb(command, output, approveLimitRequest, {
    name: "approve",
    about:
      "give the partner the limits that it asked for, or other limits; takes effect within 15 s",
    examples: [
      "limit-request approve 4",
      'limit-request approve 4 --rpm 500 --daily 200000 --comment "half for now"',
    ],
    subject,
    options: {
      rpm: ["--rpm <n>", "requests per minute, instead of the requested number"],
      daily: ["--daily <n>", "requests per UTC day, instead of the requested number"],
      comment,
    },
    shown: ({ request, partner: { rpm, daily } }) => ({ ...readable(request), rpm, daily }),
  });
  actVerb(command, output, rejectLimitRequest, {
    name: "reject",
    about: "reject the request; the partner's limits stay as they are",
    examples: ['limit-request reject 4 --comment "use the dump"'],
    subject,
    options: { comment },
    shown: readable,
  });
  actVerb(command, output, undoLimitDecision, {
    name: "undo",
    about:
      "take a decision back: the request is pending again, and the partner has its limits of before",
    examples: ["limit-request undo 4"],
    subject,
    shown: ({ request, limits }) => ({ ...readable(request), ...limits }),
  });
  return command;
}
