import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { comment, daily, refusalOf, rowId, rpm } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { dayMs } from "#src/domain/units.ts";
import {
  approveLimitRequest,
  limitRequestRows,
  rejectLimitRequest,
} from "#src/limits/limit-requests.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";
import { isNotDone } from "#src/operators/act.ts";

const shown = 300;
const busyDays = 14;

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
    async handle({ viewer, params, body }) {
      const id = rowId(params["id"]);
      const approved = await approveLimitRequest(services.db, viewer.account.name, id, body);
      if (isNotDone(approved)) return refusalOf(approved);
      return { body: { rpm: approved.partner.rpm, daily: approved.partner.daily } };
    },
  }),
  consoleCall({
    method: "POST",
    path: "/limit-requests/{id}/reject",
    role: "operator",
    body: rejection,
    async handle({ viewer, params, body }) {
      const id = rowId(params["id"]);
      const done = await rejectLimitRequest(services.db, viewer.account.name, id, body.comment);
      return isNotDone(done) ? refusalOf(done) : { status: 204, body: null };
    },
  }),
];

/** How busy these partners' minutes were; none while Redis is away. */
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
