import { Command } from "commander";
import { verb } from "#cli/command.ts";
import { withDb } from "#cli/instance.ts";
import { card, harmless, readable, table, type Output } from "#cli/output.ts";
import { choice, id, integer, line, listLimit } from "#cli/values.ts";
import { partnerBounds, refuseAbsentPartner } from "#src/keys/partners.ts";
import {
  approveLimitRequest,
  limitRequestStatuses,
  listLimitRequests,
  type OtherLimits,
  rejectLimitRequest,
  undoLimitDecision,
} from "#src/limits/limit-requests.ts";

type ListFilter = Parameters<typeof listLimitRequests>[1];

const comment = line(500, "may be empty");

/** `operator limit-request list|approve|reject|undo` (docs/contract.md 3.3). */
export function limitRequestCommand(output: () => Output): Command {
  const command = new Command("limit-request").description("partners' requests for other limits");

  verb(command, "list", "requests, newest first", "limit-request list --status pending")
    .option("--partner <id>", "only of this partner", id)
    .option(
      "--status <pending|approved|rejected>",
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

  verb(
    command,
    "approve",
    "give the partner the limits that it asked for, or other limits; takes effect within 15 s",
    "limit-request approve 4",
    'limit-request approve 4 --rpm 500 --daily 200000 --comment "half for now"',
  )
    .argument("<id>", "the request's id", id)
    .option(
      "--rpm <n>",
      "requests per minute, instead of the requested number",
      integer(...partnerBounds.rpm),
    )
    .option(
      "--daily <n>",
      "requests per UTC day, instead of the requested number",
      integer(...partnerBounds.daily),
    )
    .option("--comment <text>", "a comment for the partner", comment)
    .action(async (requestId: number, options: OtherLimits & { comment?: string }) => {
      const out = output();
      const { request, partner } = await withDb(out, (db) =>
        approveLimitRequest(db, out.actor, requestId, options),
      );
      out.result({ ...readable(request), rpm: partner.rpm, daily: partner.daily }, card);
    });

  verb(
    command,
    "reject",
    "reject the request; the partner's limits stay as they are",
    'limit-request reject 4 --comment "use the dump"',
  )
    .argument("<id>", "the request's id", id)
    .option("--comment <text>", "a comment for the partner", comment)
    .action(async (requestId: number, options: { comment?: string }) => {
      const out = output();
      const request = await withDb(out, (db) =>
        rejectLimitRequest(db, out.actor, requestId, options.comment),
      );
      out.result(readable(request), card);
    });

  verb(
    command,
    "undo",
    "take a decision back: the request is pending again, and the partner has its limits of before",
    "limit-request undo 4",
  )
    .argument("<id>", "the request's id", id)
    .action(async (requestId: number) => {
      const out = output();
      const { request, limits } = await withDb(out, (db) =>
        undoLimitDecision(db, out.actor, requestId),
      );
      out.result({ ...readable(request), ...limits }, card);
    });

  return command;
}
