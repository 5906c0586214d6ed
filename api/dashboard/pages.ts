import { marksCall, overviewCall, usageCsvCall } from "#api/dashboard/figures.ts";
import {
  askLimitsCall,
  keysCall,
  listLimitsCall,
  rotateKeyCall,
  withdrawLimitsCall,
} from "#api/dashboard/keys-and-limits.ts";
import { errorsCall, errorsCsvCall, hoursCall, recentCall } from "#api/dashboard/troubles.ts";
import { linkCalls } from "#api/dashboard/links.ts";
import {
  followLinkCall,
  showSessionCall,
  signInCall,
  signOutCall,
} from "#api/dashboard/session.ts";
import { dashboardViewer } from "#api/dashboard/viewer.ts";
import { webhookCalls } from "#api/dashboard/webhooks.ts";
import type { Middleware, PageRouter } from "#api/http/route.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import { moved, readBuilt, sendBuiltPage } from "#api/pages/built-page.ts";
import { mountCalls } from "#api/pages/page-calls.ts";
import { type SessionCookie, sessionCookie } from "#api/pages/session-cookie.ts";

/**
 * `/dashboard/`: the partner dashboard (docs/contract.md 5.6), and every call of its script. Only signing in is open to
 * everybody.
 */
export function dashboardPages(router: PageRouter, services: DashboardDeps): Middleware[] {
  const cookie = sessionCookie("dashboard", services.config);
  const built = readBuilt("dashboard/index.html");
  // Relative: the service may stand below a path of a proxy.
  router.get("/dashboard", (ctx) => moved(ctx, 308, "dashboard/"));
  router.get("/dashboard/", (ctx) => sendBuiltPage(ctx, built));
  return mountCalls(services, {
    base: "/dashboard/api",
    open: [signInCall(services, cookie), followLinkCall(services, cookie)],
    calls: dashboardCalls(services, cookie),
    admit: dashboardViewer(services, cookie),
  });
}

/** Every call for those who are signed in. */
export const dashboardCalls = (services: DashboardDeps, cookie: SessionCookie) => [
  showSessionCall(services),
  signOutCall(services, cookie),
  overviewCall(services),
  errorsCall(services),
  recentCall(services),
  hoursCall(services),
  marksCall(services),
  keysCall(services),
  rotateKeyCall(services),
  listLimitsCall(services),
  askLimitsCall(services),
  withdrawLimitsCall(services),
  ...webhookCalls(services),
  ...linkCalls(services),
  usageCsvCall(services),
  errorsCsvCall(services),
];
