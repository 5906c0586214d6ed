import { Type } from "typebox";
import { change, consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { comment, daily, rowId, rpm, unknown } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { limitRequestRows } from "#src/limits/limit-request-rows.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { dayMs } from "#src/domain/units.ts";
import {
  approveLimitRequest,
  limitRequestStatus,
  rejectLimitRequest,
} from "#src/limits/limit-requests.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";

const shown = 300;
const busyDays = 14;
const idMax = 2_147_483_647;

const approval = Type.Object({
  rpm: Type.Optional(rpm),
  daily: Type.Optional(daily),
  comment: Type.Optional(comment),
});
const rejection = Type.Object({ comment: Type.Optional(comment) });

/** Partners' requests for other limits (partner-api.md 3.3), beside what they use. */
export const limitRequestCalls = (services: Services): ConsoleCall[] => [
  consoleCall({
    method: "GET",
    path: "/limit-requests",
    role: "viewer",
    async handle() {
      const requests = await limitRequestRows(services.db, shown);
      const minutes = await busyMinutes(
        services,
        requests.filter(({ status }) => status === "pending").map((one) => one.partner_id),
      );
      return {
        body: {
          requests: requests.map((one) => ({
            ...one,
            minutes: minutes.get(one.partner_id) ?? null,
          })),
        },
      };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/limit-requests/{id}/approve",
    role: "operator",
    body: approval,
    async handle({ viewer, params, body: { comment: words = "", ...edited } }) {
      const id = requestId(params["id"]);
      const approved = await change(services.db, viewer, async (tx) => {
        const value = await approveLimitRequest(tx, id, { ...edited, comment: words.trim() });
        if (value === null) return null;
        const { rpm: newRpm, daily: newDaily } = value.partner;
        const details = { partner: value.partner.id, rpm: newRpm, daily: newDaily, comment: words };
        return {
          value,
          did: { action: "limit-request.approve", subject: `limit request ${id}`, details },
        };
      });
      if (approved === null) return notPending(services, id);
      return { body: { rpm: approved.partner.rpm, daily: approved.partner.daily } };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/limit-requests/{id}/reject",
    role: "operator",
    body: rejection,
    async handle({ viewer, params, body: { comment: words = "" } }) {
      const id = requestId(params["id"]);
      const rejected = await change(services.db, viewer, async (tx) => {
        const value = await rejectLimitRequest(tx, id, words.trim());
        if (value === null) return null;
        const details = { partner: value.partner_id, comment: words };
        return {
          value,
          did: { action: "limit-request.reject", subject: `limit request ${id}`, details },
        };
      });
      return rejected === null ? notPending(services, id) : { status: 204, body: null };
    },
  }),
];

const requestId = (text: string | undefined): number => Math.min(rowId(text) ?? 0, idMax);

async function notPending({ db }: Services, id: number): Promise<Refusal> {
  const status = await limitRequestStatus(db, id);
  if (status === null) return unknown("limit request");
  return refuse("already-done", `This request is ${status} already.`);
}

/** How busy these partners' minutes were; nobody's while Redis is away. */
async function busyMinutes({ redis, config, clock }: Services, partnerIds: readonly number[]) {
  const today = Math.floor(clock() / dayMs);
  const found = await Promise.all(
    partnerIds.map(async (id) => {
      const figures = await minuteFigures(redis, config.redisPrefix, id, today, busyDays).catch(
        () => null,
      );
      return [id, figures] as const;
    }),
  );
  return new Map(found);
}
