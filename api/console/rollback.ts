import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { idText, moment, doneOrThrow } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { previewRollback } from "#src/marks/rollback-preview.ts";
import { rollBack } from "#src/marks/rollback.ts";

const shownStations = 50;
const wakeStations = 200;
const row = Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }));

const selected = Type.Object(
  {
    key: row,
    partner: row,
    reporter: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    station: Type.Optional(idText(64)),
    status: Type.Optional(Type.Union(statuses.map((status) => Type.Literal(status)))),
    since: Type.Optional(moment),
    until: Type.Optional(moment),
  },
  { additionalProperties: false },
);

/** Withdrawing a campaign's marks as if they had never been made (docs/decisions.md 4): first shown, then done. */
export const rollbackCalls = ({ db, config, producer }: Services): ConsoleCall[] => [
  consoleCall("POST", "/rollback/preview", { role: "viewer", body: selected }, async (ctx) => {
    const preview = await previewRollback(db, ctx.state.body, config, shownStations);
    ctx.body = doneOrThrow(preview);
  }),
  consoleCall("POST", "/rollback", { role: "operator", body: selected }, async (ctx) => {
    const done = await rollBack(db, actorOf(ctx), ctx.state.body, (stationIds) => {
      for (let from = 0; from < stationIds.length; from += wakeStations)
        producer.wakeMarks(stationIds.slice(from, from + wakeStations));
    });
    ctx.body = doneOrThrow(done);
  }),
];
