import type { Page } from "#api/http/app.ts";
import { operatorGate } from "#api/console/operator-gate.ts";
import type { ConsoleCall, ConsoleViewer } from "#api/console/call.ts";
import { consoleCalls } from "#api/console/calls.ts";
import { uploadPage } from "#api/console/imports.ts";
import { queuesPage } from "#api/console/queues-page.ts";
import { signInCall, signOutCall } from "#api/console/session.ts";
import { builtPage, readBuilt } from "#api/pages/built-page.ts";
import { jsonPage } from "#api/pages/json-page.ts";
import type { Services } from "#api/http/services.ts";

/** `/console/`: the operator's page, and the calls of its script below `/console/api/`. */
export function consolePages(services: Services): Page[] {
  const gate = operatorGate(services);
  const built = readBuilt("console/index.html");
  const calls = jsonPage<ConsoleViewer>(services, {
    base: "/console/api",
    open: [signInCall(services, gate), signOutCall(services, gate)],
    calls: consoleCalls(services),
    admit: (ctx, call) => gate.admit(ctx, (call as ConsoleCall).role),
  });
  const page: Page = (ctx, next) => {
    if (!["GET", "HEAD"].includes(ctx.method)) return next();
    const { path } = ctx.state;
    if (path === "/console") return { status: 308, headers: { Location: "/console/" }, body: "" };
    return path === "/console/" ? builtPage(built) : next();
  };
  return [uploadPage(services, gate), calls, queuesPage(services, gate), page];
}
