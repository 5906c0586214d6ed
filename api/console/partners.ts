import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { daily, line, refusalOf, rowId, rpm, unknown, within } from "#api/console/fields.ts";
import { consoleKey } from "#api/console/keys.ts";
import type { Services } from "#api/http/services.ts";
import { type IssuedKey, listKeys } from "#src/keys/issued-keys.ts";
import { partnerRows, usageOf } from "#src/keys/partner-reports.ts";
import { changePartner, createPartner, partnerBounds, partnerNameMax } from "#src/keys/partners.ts";
import { isNotDone } from "#src/operators/act.ts";

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
  },
  { minProperties: 1, additionalProperties: false },
);

/** Partners: their limits and every switch of the contract. */
export const partnerCalls = ({ db, config }: Services): ConsoleCall[] => [
  consoleCall({
    method: "GET",
    path: "/partners",
    role: "viewer",
    handle: async () => ({
      body: {
        partners: await partnerRows(db),
        defaults: { rpm: config.defaultRpm, daily: config.defaultDaily },
      },
    }),
  }),
  consoleCall({
    method: "GET",
    path: "/partners/{id}",
    role: "viewer",
    async handle({ params }) {
      const [partner] = await partnerRows(db, rowId(params["id"]));
      if (partner === undefined) return unknown("partner");
      const [keys, usage] = await Promise.all([
        listKeys(db, partner.id),
        usageOf(db, [partner.id], shownDays),
      ]);
      return {
        body: {
          partner,
          keys: inForceFirst(keys).map(consoleKey),
          days: usage.get(partner.id) ?? [],
          cache_default_s: config.cacheTtlS,
        },
      };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/partners",
    role: "operator",
    body: newPartner,
    async handle({ viewer, body }) {
      const partner = await createPartner(db, viewer.account.name, body, config);
      return isNotDone(partner) ? refusalOf(partner) : { status: 201, body: { id: partner.id } };
    },
  }),
  consoleCall({
    method: "PATCH",
    path: "/partners/{id}",
    role: "operator",
    body: changes,
    async handle({ viewer, params, body }) {
      const id = rowId(params["id"]);
      const changed = await changePartner(db, viewer.account.name, id, body);
      if (isNotDone(changed)) return refusalOf(changed);
      const [partner] = await partnerRows(db, id);
      return { body: { partner } };
    },
  }),
];

/** Those in force first, revoked ones too. */
const inForceFirst = (keys: readonly IssuedKey[]): IssuedKey[] =>
  keys.toSorted(
    (a, b) => Number(a.revoked_at !== null) - Number(b.revoked_at !== null) || b.id - a.id,
  );
