import { Type } from "typebox";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { daily, line, rowId, rpm, within } from "#api/console/fields.ts";
import { consoleKey } from "#api/console/keys.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { type IssuedKey, listKeys } from "#src/keys/issued-keys.ts";
import { partnerRows, usageOf } from "#src/keys/partner-reports.ts";
import {
  changePartner,
  createPartner,
  partnerBounds,
  partnerNameMax,
  setLaunch,
} from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";

const shownDays = 14;

const limits = { rpm: Type.Optional(rpm), daily: Type.Optional(daily) };
const newPartner = Type.Object({ name: line(1, partnerNameMax), ...limits });
const changes = Type.Object(
  {
    name: Type.Optional(line(1, partnerNameMax)),
    ...limits,
    enabled: Type.Optional(Type.Boolean()),
    bind_ips: Type.Optional(Type.Boolean()),
    accept_remote: Type.Optional(Type.Boolean()),
    cache_ttl_s: Type.Optional(Type.Union([within(partnerBounds.cache_ttl_s), Type.Null()])),
    new_users_daily: Type.Optional(
      Type.Union([within(partnerBounds.new_users_daily), Type.Null()]),
    ),
  },
  { minProperties: 1, additionalProperties: false },
);

const launch = Type.Object(
  {
    /** ms. */
    until: Type.Integer(),
    new_users: within(partnerBounds.new_users_daily),
    limit: within(partnerBounds.launch_limit),
  },
  { additionalProperties: false },
);

/** Partners: their limits and every switch of the contract. */
export const partnerCalls = ({ db, config, clock }: Services): ConsoleCall[] => [
  consoleCall("GET", "/partners", { role: "viewer" }, async (ctx) => {
    ctx.body = {
      partners: await partnerRows(db),
      defaults: { rpm: config.defaultRpm, daily: config.defaultDaily },
    };
  }),
  consoleCall("GET", "/partners/{id}", { role: "viewer" }, async (ctx) => {
    const id = rowId(ctx.params["id"]);
    const partner = orThrow((await partnerRows(db, id))[0] ?? unknown("partner", id));
    const [keys, usage] = await Promise.all([
      listKeys(db, partner.id),
      usageOf(db, [partner.id], shownDays),
    ]);
    ctx.body = {
      partner,
      keys: inForceFirst(keys).map(consoleKey),
      days: usage.get(partner.id) ?? [],
      cache_default_s: config.cacheTtlS,
    };
  }),
  consoleCall("POST", "/partners", { role: "operator", body: newPartner }, async (ctx) => {
    const partner = await createPartner(db, actorOf(ctx), ctx.state.body, config);
    ctx.status = 201;
    ctx.body = { id: orThrow(partner).id };
  }),
  consoleCall("PATCH", "/partners/{id}", { role: "operator", body: changes }, async (ctx) => {
    const id = rowId(ctx.params["id"]);
    orThrow(await changePartner(db, actorOf(ctx), id, ctx.state.body));
    const [partner] = await partnerRows(db, id);
    ctx.body = { partner };
  }),
  consoleCall("POST", "/partners/{id}/launch", { role: "operator", body: launch }, async (ctx) => {
    const { until, new_users: newUsers, limit } = ctx.state.body;
    const wish = { until, newUsers, limit };
    const done = await setLaunch(db, actorOf(ctx), rowId(ctx.params["id"]), wish, clock());
    ctx.body = { id: orThrow(done).id };
  }),
  consoleCall("DELETE", "/partners/{id}/launch", { role: "operator" }, async (ctx) => {
    const done = await setLaunch(db, actorOf(ctx), rowId(ctx.params["id"]), null, clock());
    ctx.body = { id: orThrow(done).id };
  }),
];

/** Those in force first, revoked ones too. */
const inForceFirst = (keys: readonly IssuedKey[]): IssuedKey[] =>
  keys.toSorted(
    (a, b) => Number(a.revoked_at !== null) - Number(b.revoked_at !== null) || b.id - a.id,
  );
