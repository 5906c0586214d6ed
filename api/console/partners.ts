import { Type } from "typebox";
import { actCall, byOf, consoleCall, idOf, type ConsoleCall } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import {
  changeKey,
  issueKey,
  limitKey,
  listKeys,
  revokeKey,
  type IssuedKey,
} from "#src/keys/issued-keys.ts";
import { partnerRows, usageOf } from "#src/keys/partner-reports.ts";
import { changePartner, createPartner, setLaunch, type Partner } from "#src/keys/partners.ts";
import { unknown } from "#src/operators/act.ts";
import { rowId } from "#src/operators/inputs.ts";
import type { ConsoleKey, ConsoleWebhook } from "#src/contract/console.ts";
import { inMs, presented } from "#src/operators/presented.ts";
import { disableWebhook, enableWebhook, listWebhooks } from "#src/pushes/webhooks/endpoints.ts";

const shownDays = 14;

/** The end of a launch has a call of its own. */
const launch = Type.Object(
  { ...setLaunch.input.properties, until: Type.Integer() },
  { additionalProperties: false },
);
const usual = { until: null, new_users: 1, limit: 1 };
const answer = ({ id }: Partner) => ({ id });

/** Partners: their limits and every switch of the contract. */
export const partnerCalls = (services: ConsoleDeps): ConsoleCall[] => {
  const { db, config } = services;
  return [
    consoleCall("GET", "/partners", { role: "viewer" }, async (ctx) => {
      ctx.body = {
        partners: await partnerRows(db),
        defaults: { rpm: config.defaultRpm, daily: config.defaultDaily },
      };
    }),
    consoleCall("GET", "/partners/{id}", { role: "viewer" }, async (ctx) => {
      const id = idOf(rowId, ctx.params["id"]);
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
    actCall(services, "POST", "/partners", createPartner, { status: 201, answer }),
    actCall(services, "PATCH", "/partners/{id}", changePartner, {
      answer: async ({ id }) => ({ partner: (await partnerRows(db, id))[0] }),
    }),
    actCall(services, "POST", "/partners/{id}/launch", setLaunch, { answer, body: launch }),
    consoleCall("DELETE", "/partners/{id}/launch", { role: "operator" }, async (ctx) => {
      const id = idOf(rowId, ctx.params["id"]);
      ctx.body = answer(orThrow(await setLaunch(byOf(services, ctx), usual, id)));
    }),
  ];
};

/** All keys, revoked ones too; those in force come first. */
const inForceFirst = (keys: readonly IssuedKey[]): IssuedKey[] =>
  keys.toSorted(
    (a, b) => Number(a.revoked_at !== null) - Number(b.revoked_at !== null) || b.id - a.id,
  );

/** A key as the console's page takes it. */
export const consoleKey = (key: IssuedKey): ConsoleKey => presented(key, inMs);

const shownKey = (key: IssuedKey) => ({ key: consoleKey(key) });

/** Keys of partners: issue (the text is in this answer and nowhere else), change, revoke. */
export const keyCalls = (services: ConsoleDeps): ConsoleCall[] => [
  actCall(services, "POST", "/keys", issueKey, {
    status: 201,
    answer: ({ key, text }) => ({ id: key.id, key: text }),
  }),
  actCall(services, "PATCH", "/keys/{id}", changeKey, { answer: shownKey }),
  actCall(services, "POST", "/keys/{id}/limit", limitKey, { answer: shownKey }),
  actCall(services, "POST", "/keys/{id}/revoke", revokeKey),
];

/** Partners' webhooks (decisions 20.8): how they do, off and on. */
export const webhookCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/partners/{id}/webhooks", { role: "viewer" }, async (ctx) => {
    const webhooks = await listWebhooks(services.db, idOf(rowId, ctx.params["id"]));
    ctx.body = {
      webhooks: webhooks.map((one) => presented(one, inMs)) satisfies ConsoleWebhook[],
    };
  }),
  actCall(services, "POST", "/webhooks/{id}/enable", enableWebhook),
  actCall(services, "POST", "/webhooks/{id}/disable", disableWebhook),
];
