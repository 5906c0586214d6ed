import { Type } from "typebox";
import { change, consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { badField, daily, line, rowId, rpm, unknown } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { keyRows, partnerRows, usageOf } from "#src/keys/partner-reports.ts";
import { createPartner, updatePartner } from "#src/keys/partners.ts";

const shownDays = 14;
const idMax = 2_147_483_647;

const limits = { rpm: Type.Optional(rpm), daily: Type.Optional(daily) };
const newPartner = Type.Object({ name: line(1, 200), ...limits });
const changes = Type.Object(
  {
    name: Type.Optional(line(1, 200)),
    ...limits,
    enabled: Type.Optional(Type.Boolean()),
    bind_ips: Type.Optional(Type.Boolean()),
    accept_remote: Type.Optional(Type.Boolean()),
    cache_ttl_s: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 3600 }), Type.Null()]),
    ),
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
      const id = partnerId(params["id"]);
      const [partner] = id === null ? [] : await partnerRows(db, id);
      if (partner === undefined) return unknown("partner");
      const [keys, usage] = await Promise.all([
        keyRows(db, partner.id),
        usageOf(db, [partner.id], shownDays),
      ]);
      return {
        body: {
          partner,
          keys,
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
      const name = body.name.trim();
      if (name === "") return noName;
      const made = {
        name,
        rpm: body.rpm ?? config.defaultRpm,
        daily: body.daily ?? config.defaultDaily,
      };
      const partner = await change(db, viewer, async (tx) => {
        const value = await createPartner(tx, made);
        const did = { action: "partner.create", subject: `partner ${value.id}`, details: made };
        return { value, did };
      });
      return { status: 201, body: { id: partner!.id } };
    },
  }),
  consoleCall({
    method: "PATCH",
    path: "/partners/{id}",
    role: "operator",
    body: changes,
    async handle({ viewer, params, body }) {
      const id = partnerId(params["id"]);
      if (id === null) return unknown("partner");
      const wanted = body.name === undefined ? body : { ...body, name: body.name.trim() };
      if (wanted.name === "") return noName;
      const changed = await change(db, viewer, async (tx) => {
        const value = await updatePartner(tx, id, wanted);
        const did = { action: "partner.update", subject: `partner ${id}`, details: wanted };
        return value === null ? null : { value, did };
      });
      if (changed === null) return unknown("partner");
      const [partner] = await partnerRows(db, id);
      return { body: { partner } };
    },
  }),
];

const noName = badField("name", "Must not be empty");

function partnerId(text: string | undefined): number | null {
  const id = rowId(text);
  return id === null || id > idMax ? null : id;
}
