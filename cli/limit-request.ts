import { Command } from "commander";
import { confirmed } from "#cli/confirm.ts";
import { examples } from "#cli/examples.ts";
import { withDb } from "#cli/instance.ts";
import { card, table, time, type Output } from "#cli/output.ts";
import { Refusal, unknown } from "#cli/refusal.ts";
import { choice, id, integer, line } from "#cli/values.ts";
import { inTransaction, type Tx } from "#src/infrastructure/db.ts";
import { cleanText } from "#src/import/clean-text.ts";
import {
  approveLimitRequest,
  type Edited,
  type LimitRequest,
  limitRequestStatus,
  limitRequestStatuses,
  listLimitRequests,
  rejectLimitRequest,
} from "#src/limits/limit-requests.ts";
import { logAction } from "#src/operators/operator-log.ts";

const comment = line("--comment", 500, "may be empty");

/** `operator limit-request list|approve|reject` (partner-api.md 3.3). */
export function limitRequestCommand(output: () => Output): Command {
  const command = new Command("limit-request").description("partners' requests for other limits");

  command
    .command("list")
    .description("requests, newest first")
    .option("--partner <id>", "only of this partner", id("partner"))
    .option(
      "--status <pending|approved|rejected>",
      "only with this status",
      choice("--status", limitRequestStatuses),
    )
    .option(
      "--limit <n>",
      "highest number of requests to show",
      integer("--limit", 1, 100_000),
      1000,
    )
    .addHelpText("after", examples("limit-request list --status pending"))
    .action(async ({ limit, ...only }: ListOptions) => {
      const requests = await withDb(output(), (db) => listLimitRequests(db, only, limit));
      // What a stranger typed must not steer the operator's terminal.
      output().result(requests.map(shown), (list) =>
        table(
          list.map((one) => ({ ...one, comment: cleanText(one.comment, 200) })),
          "no limit requests",
        ),
      );
    });

  command
    .command("approve")
    .description(
      "give the partner the limits that it asked for, or other limits; takes effect within 15 s",
    )
    .argument("<id>", "the request's id", id("request"))
    .option(
      "--rpm <n>",
      "requests per minute, instead of the requested number",
      integer("--rpm", 1, 100_000),
    )
    .option(
      "--daily <n>",
      "requests per UTC day, instead of the requested number",
      integer("--daily", 1, 100_000_000),
    )
    .option("--comment <text>", "a comment for the partner", comment)
    .addHelpText(
      "after",
      examples(
        "limit-request approve 4",
        'limit-request approve 4 --rpm 500 --daily 200000 --comment "half for now"',
      ),
    )
    .action(async (requestId: number, options: Edited & { comment?: string }) => {
      const { actor, result } = output();
      const { request, partner } = await withDb(output(), (db) =>
        inTransaction(db, async (tx) => {
          const decision = { ...options, comment: options.comment ?? "" };
          const approved = await approveLimitRequest(tx, requestId, decision);
          if (approved === null) throw await whyNot(tx, requestId);
          const { id: partnerId, rpm, daily } = approved.partner;
          await logAction(tx, {
            actor,
            action: "limit-request.approve",
            subject: `limit request ${requestId}`,
            details: { partner: partnerId, rpm, daily, comment: decision.comment },
          });
          return approved;
        }),
      );
      result({ ...shown(request), rpm: partner.rpm, daily: partner.daily }, card);
    });

  command
    .command("reject")
    .description("reject the request; the partner's limits stay as they are")
    .argument("<id>", "the request's id", id("request"))
    .option("--comment <text>", "a comment for the partner", comment)
    .option("--yes", "do not ask for confirmation")
    .addHelpText("after", examples('limit-request reject 4 --comment "use the dump"'))
    .action(async (requestId: number, options: { comment?: string; yes?: boolean }) => {
      const out = output();
      const { actor, result } = out;
      const question = `Reject limit request ${requestId} permanently?`;
      if (!options.yes && !(await confirmed(out, question))) throw new Refusal("not rejected", 1);
      const request = await withDb(output(), (db) =>
        inTransaction(db, async (tx) => {
          const rejected = await rejectLimitRequest(tx, requestId, options.comment ?? "");
          if (rejected === null) throw await whyNot(tx, requestId);
          await logAction(tx, {
            actor,
            action: "limit-request.reject",
            subject: `limit request ${requestId}`,
            details: { partner: rejected.partner_id, comment: rejected.decision_comment },
          });
          return rejected;
        }),
      );
      result(shown(request), card);
    });

  return command;
}

interface ListOptions {
  partner?: number;
  status?: LimitRequest["status"];
  limit: number;
}

/** Why a request cannot be decided: each is decided once. */
async function whyNot(tx: Tx, requestId: number): Promise<Refusal> {
  const status = await limitRequestStatus(tx, requestId);
  if (status === null) return unknown("limit request", requestId, "limit-request list");
  return new Refusal(
    `limit request ${requestId} is already ${status}: \`operator partner update\` changes limits at any time`,
    1,
  );
}

const shown = ({ created_at, decided_at, decision_comment, ...request }: LimitRequest) => ({
  ...request,
  created: time(created_at),
  decided: time(decided_at),
  decision_comment,
});
