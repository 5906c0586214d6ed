import type { ConsoleCall } from "#api/console/call.ts";
import { healthCalls } from "#api/console/health.ts";
import { listImportsCall } from "#api/console/imports.ts";
import { keyCalls } from "#api/console/keys.ts";
import { limitRequestCalls } from "#api/console/limit-requests.ts";
import { logCalls } from "#api/console/log.ts";
import { partnerCalls } from "#api/console/partners.ts";
import { reviewCalls } from "#api/console/review.ts";
import { rollbackCalls } from "#api/console/rollback.ts";
import { sessionCalls } from "#api/console/session.ts";
import { stationCalls } from "#api/console/stations.ts";
import type { Services } from "#api/http/services.ts";

/** Every call of the console for those who are signed in, each with the role it takes. */
export const consoleCalls = (services: Services): ConsoleCall[] => [
  ...sessionCalls(services),
  ...partnerCalls(services),
  ...keyCalls(services),
  ...limitRequestCalls(services),
  ...reviewCalls(services),
  ...rollbackCalls(services),
  ...stationCalls(services),
  listImportsCall(services),
  ...healthCalls(services),
  ...logCalls(services),
];
