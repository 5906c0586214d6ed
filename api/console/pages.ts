import type { ConsoleCall, ConsoleViewer } from "#api/console/call.ts";
import { consoleCalls } from "#api/console/calls.ts";
import { uploadPage } from "#api/console/imports.ts";
import { operatorGate } from "#api/console/operator-gate.ts";
import { queuesPages } from "#api/console/queues-page.ts";
import { signInCall, signOutCall } from "#api/console/session.ts";
import type { Middleware, PageRouter } from "#api/http/state.ts";
import type { Services } from "#api/http/services.ts";
import { moved, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { mountCalls } from "#api/pages/page-calls.ts";

/** `/console/`: the operator's page, and the calls of its script below `/console/api/`. */
export function consolePages(router: PageRouter, services: Services): Middleware[] {
  const gate = operatorGate(services);
  const built = readBuilt("console/index.html");
  router.get("/console", (ctx) => moved(ctx, 308, "/console/"));
  router.get("/console/", (ctx) => sendBuiltPage(ctx, built));
  uploadPage(router, services, gate);
  queuesPages(router, services, gate);
  return mountCalls<ConsoleViewer>(services, {
    base: "/console/api",
    open: [signInCall(services, gate), signOutCall(services, gate)],
    calls: consoleCalls(services),
    admit: (ctx, call) => gate.admit(ctx, (call as ConsoleCall).role),
  });
}
