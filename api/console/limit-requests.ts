import { actCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { dayMs } from "#src/domain/units.ts";
import {
  approveLimitRequest,
  limitRequestRows,
  rejectLimitRequest,
  undoLimitDecision,
} from "#src/limits/limit-requests.ts";
import { minuteFigures } from "#src/limits/usage-minutes.ts";

const shown = 300;
const busyDays = 14;

/** Partners' requests for other limits (docs/contract.md 3.3), beside their use. */
export const limitRequestCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/limit-requests", { role: "viewer" }, async (ctx) => {
    const requests = await limitRequestRows(services.db, shown);
    const minutes = await busyMinutes(
      services,
      requests.filter(({ status }) => status === "pending").map(({ partner_id }) => partner_id),
    );
    ctx.body = {
      requests: requests.map((request) => ({
        ...request,
        minutes: minutes.get(request.partner_id) ?? null,
      })),
    };
  }),
  actCall(services, "POST", "/limit-requests/{id}/approve", approveLimitRequest, {
    answer: ({ partner: { rpm, daily } }) => ({ rpm, daily }),
  }),
  actCall(services, "POST", "/limit-requests/{id}/reject", rejectLimitRequest),
  actCall(services, "POST", "/limit-requests/{id}/undo", undoLimitDecision, {
    answer: ({ limits }) => limits,
  }),
];

/** How busy these partners' minutes were; none while Redis is away. */
async function busyMinutes({ redis, config, clock }: ConsoleDeps, partnerIds: readonly number[]) {
  const today = Math.floor(clock() / dayMs);
  const found = partnerIds.map(async (id) => {
    const figures = minuteFigures(redis, config.redisPrefix, id, today, busyDays);
    return [id, await figures.catch(() => null)] as const;
  });
  return new Map(await Promise.all(found));
}
