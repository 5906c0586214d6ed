import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { type Facts, factsOf, nameOf, pageOf, subjectOf, wayBack } from "#api/console/way-back.ts";
import {
  actionsLike,
  type ConsoleBlock,
  type ConsoleDecision,
  decisionKinds,
} from "#src/contract/decisions.ts";
import { cutToPage } from "#src/infrastructure/lists.ts";
import { listBlocks } from "#src/marks/source-blocks.ts";
import { oneOf } from "#src/operators/inputs.ts";
import { listDecisions, type LoggedDecision } from "#src/operators/operator-log.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const shown = 50;
const id = Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }));
const filter = Type.Object({
  actor: Type.Optional(Type.String({ maxLength: 200 })),
  kind: Type.Optional(oneOf(decisionKinds)),
  before: id,
  /** The decision of this entry of the log alone. */
  entry: id,
});

/** The decisions of operators: a view of their log, with the record of each and the way back (decisions 13.28). */
export const decisionCalls = ({ db, clock }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/decisions", { role: "viewer", query: filter }, async (ctx) => {
    const { kind, ...wish } = ctx.state.query;
    const found = await listDecisions(db, actionsLike(kind), wish, shown + 1);
    const { page, next } = cutToPage(found, shown);
    const facts = await factsOf(db, page);
    const decisions = page.map((entry) => decisionOf(entry, facts, clock()));
    ctx.body = { decisions, next };
  }),
  consoleCall("GET", "/blocks", { role: "viewer" }, async (ctx) => {
    const blocks = await listBlocks(db);
    ctx.body = { blocks: blocks.map((block) => presented(block, inMs)) satisfies ConsoleBlock[] };
  }),
];

function decisionOf(found: LoggedDecision, facts: Facts, now: number): ConsoleDecision {
  const { next, ...logged } = found;
  const entry = { ...presented(logged, inMs), details: logged.details as Record<string, unknown> };
  const batch = facts.batches.get(Number(entry.details["id"]));
  const isGroup = batch !== undefined && subjectOf(entry, "mark") === null;
  const undo = wayBack(entry, found, facts, now);
  const later =
    next === null
      ? null
      : {
          ...{ actor: next.actor, at: Date.parse(String(next.at)) },
          undone: next.action === `${entry.action}-undo`,
        };
  const back =
    isGroup && batch.undo_actor !== null && batch.undone_at !== null
      ? { actor: batch.undo_actor, at: inMs(batch.undone_at), undone: true }
      : null;
  return {
    ...entry,
    // Entries of a great decision count a part of it each.
    details: isGroup
      ? { ...entry.details, marks: batch.marks, stations: batch.stations }
      : entry.details,
    ...{ name: nameOf(entry, facts), page: pageOf(entry, facts), undo },
    since: undo === null ? (back ?? later) : null,
  };
}
