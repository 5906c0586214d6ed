import { alarmCalls } from "#api/console/alarms.ts";
import { blockCalls, reviewCalls, rollbackCalls } from "#api/console/review.ts";
import {
  brandCalls,
  fieldSourceCalls,
  stationCalls,
  suggestionDecisionCalls,
} from "#api/console/stations.ts";
import { chanceCalls } from "#api/console/chance.ts";
import { decisionCalls } from "#api/console/decisions.ts";
import { choiceCalls, peopleCalls } from "#api/console/people.ts";
import { feedCalls } from "#api/console/feeds.ts";
import { findCall } from "#api/console/find.ts";
import { healthCalls } from "#api/console/health.ts";
import { importCalls, uploadPage } from "#api/console/imports.ts";
import { keyCalls, partnerCalls, webhookCalls } from "#api/console/partners.ts";
import { incidentCalls } from "#api/console/incidents.ts";
import { limitRequestCalls } from "#api/console/limit-requests.ts";
import { sessionCalls } from "#api/console/session.ts";
import { signInCall, signOutCall } from "#api/console/sign-in.ts";
import { historyCalls } from "#api/console/history.ts";
import { type ConsoleCall, type ConsoleViewer, operatorGate } from "#api/console/operator-gate.ts";
import { queuesPages } from "#api/console/queues-page.ts";
import type { Middleware, PageRouter } from "#api/http/route.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { moved, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { mountCalls } from "#api/pages/page-calls.ts";

/** `/console/`: the operator's page, and the calls of its script below `/console/api/`. */
export function consolePages(router: PageRouter, services: ConsoleDeps): Middleware[] {
  const gate = operatorGate(services);
  const built = readBuilt("console/index.html");
  router.get("/console", (ctx) => moved(ctx, 308, "/console/"));
  router.get("/console/", (ctx) => sendBuiltPage(ctx, built, { framesOwn: true }));
  uploadPage(router, services, gate);
  queuesPages(router, services, gate);
  return mountCalls<ConsoleViewer>(services, {
    base: "/console/api",
    open: [signInCall(services, gate), signOutCall(services, gate)],
    calls: consoleCalls(services),
    admit: (ctx, call) => gate.admit(ctx, (call as ConsoleCall).role),
  });
}

/** Every call of the console for those who are signed in, each with the role it takes. */
export const consoleCalls = (services: ConsoleDeps): ConsoleCall[] => [
  ...sessionCalls(services),
  findCall(services),
  ...partnerCalls(services),
  ...keyCalls(services),
  ...limitRequestCalls(services),
  ...webhookCalls(services),
  ...reviewCalls(services),
  ...blockCalls(services),
  ...rollbackCalls(services),
  ...choiceCalls(services),
  ...peopleCalls(services),
  ...historyCalls(services),
  ...chanceCalls(services),
  ...decisionCalls(services),
  ...stationCalls(services),
  ...suggestionDecisionCalls(services),
  ...fieldSourceCalls(services),
  ...brandCalls(services),
  ...importCalls(services),
  ...feedCalls(services),
  ...healthCalls(services),
  ...alarmCalls(services),
  ...incidentCalls(services),
];
