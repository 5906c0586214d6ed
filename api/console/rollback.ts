import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { idText, moment, refusalOf } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { statuses } from "#src/domain/vocabulary.ts";
import { previewRollback } from "#src/marks/rollback-preview.ts";
import { rollBack } from "#src/marks/rollback.ts";
import { isNotDone } from "#src/operators/act.ts";

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

/** Withdrawing a campaign's marks as if they had never been made (decisions.md 4): first shown, then done. */
export const rollbackCalls = ({ db, config, producer }: Services): ConsoleCall[] => [
  consoleCall({
    method: "POST",
    path: "/rollback/preview",
    role: "viewer",
    body: selected,
    async handle({ body }) {
      const preview = await previewRollback(db, body, config, shownStations);
      return isNotDone(preview) ? refusalOf(preview) : { body: preview };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/rollback",
    role: "operator",
    body: selected,
    async handle({ viewer, body }) {
      const done = await rollBack(db, viewer.account.name, body, (stationIds) => {
        for (let from = 0; from < stationIds.length; from += wakeStations)
          producer.wakeMarks(stationIds.slice(from, from + wakeStations));
      });
      return isNotDone(done) ? refusalOf(done) : { body: done };
    },
  }),
];
