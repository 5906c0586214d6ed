import { type Static, Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { idText, line, moment, doneOrThrow } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { previewRollback } from "#src/marks/rollback-preview.ts";
import { rollBack, type Selection } from "#src/marks/rollback.ts";

const shownStations = 50;
const wakeStations = 200;
const row = Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));

const selected = Type.Object(
  {
    key: row,
    partner: row,
    reporter: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    station: Type.Optional(idText(64)),
    city: Type.Optional(line(1, 200)),
    network: Type.Optional(
      Type.String({ pattern: "^[0-9a-f]{8,64}$", wanted: "be 8 to 64 hex digits, 0-9 and a-f" }),
    ),
    status: Type.Optional(Type.Union(statuses.map((status) => Type.Literal(status)))),
    remote: Type.Optional(Type.Boolean()),
    first_seen_since: Type.Optional(moment),
    first_seen_until: Type.Optional(moment),
    since: Type.Optional(moment),
    until: Type.Optional(moment),
  },
  { additionalProperties: false },
);

const selectionOf = (body: Static<typeof selected>): Selection => {
  const { first_seen_since: firstSeenSince, first_seen_until: firstSeenUntil, ...others } = body;
  return { ...others, firstSeenSince, firstSeenUntil };
};

/** Withdrawing a campaign's marks as if they had never been made (docs/decisions.md 4): first shown, then done. */
export const rollbackCalls = ({ db, config, producer }: Services): ConsoleCall[] => [
  consoleCall("POST", "/rollback/preview", { role: "viewer", body: selected }, async (ctx) => {
    const preview = await previewRollback(db, selectionOf(ctx.state.body), config, shownStations);
    ctx.body = doneOrThrow(preview);
  }),
  consoleCall("POST", "/rollback", { role: "operator", body: selected }, async (ctx) => {
    const done = await rollBack(db, actorOf(ctx), selectionOf(ctx.state.body), (stationIds) => {
      for (let from = 0; from < stationIds.length; from += wakeStations)
        producer.wakeMarks(stationIds.slice(from, from + wakeStations));
    });
    ctx.body = doneOrThrow(done);
  }),
];
