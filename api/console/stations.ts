import { Type } from "typebox";
import { comment, line, stationIdOf } from "#api/console/fields.ts";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { editStation, stationTextMax } from "#src/stations/edit-station.ts";
import { handFields } from "#src/stations/hand-edits.ts";
import { closeStation, reopenStation } from "#src/stations/station-service.ts";

const point = Type.Object(
  {
    lat: Type.Number({ minimum: -90, maximum: 90 }),
    lon: Type.Number({ minimum: -180, maximum: 180 }),
  },
  { additionalProperties: false },
);
const values = {
  name: Type.Optional(line(0, stationTextMax.name)),
  brand: Type.Optional(line(0, stationTextMax.brand)),
  addr: Type.Optional(line(0, stationTextMax.addr)),
  position: Type.Optional(point),
};
/** What the page has shown; what an import stored long ago may be longer or hold other characters. */
const seen = {
  name: Type.Optional(Type.String()),
  brand: Type.Optional(Type.String()),
  addr: Type.Optional(Type.String()),
  position: Type.Optional(point),
};
const edit = Type.Object(
  {
    ...values,
    from_file: Type.Optional(
      Type.Array(Type.Union(handFields.map((field) => Type.Literal(field))), {
        maxItems: handFields.length,
      }),
    ),
    was: Type.Optional(Type.Object(seen, { additionalProperties: false })),
  },
  { minProperties: 1, additionalProperties: false },
);
const close = Type.Object({ comment: Type.Optional(comment) }, { additionalProperties: false });

/** Corrections of stations by hand (decisions 13.16). */
export const stationCalls = ({ db }: Services): ConsoleCall[] => [
  consoleCall("PATCH", "/stations/{id}", { role: "operator", body: edit }, async (ctx) => {
    const id = stationIdOf(ctx.params["id"]);
    ctx.body = orThrow(await editStation(db, actorOf(ctx), id, ctx.state.body));
  }),
  consoleCall("POST", "/stations/{id}/close", { role: "operator", body: close }, async (ctx) => {
    const id = stationIdOf(ctx.params["id"]);
    const why = ctx.state.body.comment?.trim() ?? "";
    ctx.body = { station: orThrow(await closeStation(db, actorOf(ctx), id, why)) };
  }),
  consoleCall("POST", "/stations/{id}/reopen", { role: "operator" }, async (ctx) => {
    const id = stationIdOf(ctx.params["id"]);
    ctx.body = { station: orThrow(await reopenStation(db, actorOf(ctx), id)) };
  }),
];
