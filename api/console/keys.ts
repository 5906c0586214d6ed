import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { line, moment, rowId, within } from "#api/console/fields.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import type { ConsoleKey } from "#src/contract/console.ts";
import {
  changeKey,
  type IssuedKey,
  issueKey,
  keyBounds,
  keyLabelMax,
  limitKey,
  revokeKey,
} from "#src/keys/issued-keys.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const bindings = Type.Array(Type.String({ maxLength: 260 }), { maxItems: 200 });
const settings = {
  label: Type.Optional(line(0, keyLabelMax)),
  domains: Type.Optional(bindings),
  ips: Type.Optional(bindings),
  confirm_min: Type.Optional(within(keyBounds.confirm_min)),
  reports: Type.Optional(Type.Boolean()),
  mass_no_limit: Type.Optional(within(keyBounds.mass_no_limit)),
  expires: Type.Optional(Type.Union([moment, Type.Null()])),
};
const changes = Type.Object(settings, { minProperties: 1, additionalProperties: false });
const issue = Type.Object({
  partner_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  kind: Type.Union([Type.Literal("secret"), Type.Literal("publishable")]),
  ...settings,
});

/** `until` in ms; null ends the limit. */
const limit = Type.Object(
  { to: within(keyBounds.mass_no_limit), until: Type.Union([moment, Type.Null()]) },
  { additionalProperties: false },
);

/** A key as the console's page takes it. */
export const consoleKey = (key: IssuedKey): ConsoleKey => presented(key, inMs);

/** Keys of partners: issue (the text is in this answer and nowhere else), change, revoke. */
export const keyCalls = ({ db, config, clock }: Services): ConsoleCall[] => [
  consoleCall("POST", "/keys", { role: "operator", body: issue }, async (ctx) => {
    const context = { now: clock(), massNoLimit: config.massNoLimit };
    const issued = await issueKey(db, actorOf(ctx), ctx.state.body, context);
    const { key, text } = orThrow(issued);
    ctx.status = 201;
    ctx.body = { id: key.id, key: text };
  }),
  consoleCall("PATCH", "/keys/{id}", { role: "operator", body: changes }, async (ctx) => {
    const id = rowId(ctx.params["id"]);
    const key = await changeKey(db, actorOf(ctx), id, ctx.state.body, clock());
    ctx.body = { key: consoleKey(orThrow(key)) };
  }),
  consoleCall("POST", "/keys/{id}/limit", { role: "operator", body: limit }, async (ctx) => {
    const { to, until } = ctx.state.body;
    const wish = until === null ? null : { to, until };
    const key = await limitKey(db, actorOf(ctx), rowId(ctx.params["id"]), wish, clock());
    ctx.body = { key: consoleKey(orThrow(key)) };
  }),
  consoleCall("POST", "/keys/{id}/revoke", { role: "operator" }, async (ctx) => {
    orThrow(await revokeKey(db, actorOf(ctx), rowId(ctx.params["id"])));
    ctx.status = 204;
  }),
];
