import type { Page } from "#api/http/app.ts";
import { keysCall } from "#api/dashboard/keys.ts";
import { askLimitsCall, listLimitsCall } from "#api/dashboard/limits.ts";
import { marksCall } from "#api/dashboard/marks.ts";
import { overviewCall } from "#api/dashboard/overview.ts";
import { dashboardPage } from "#api/dashboard/page.ts";
import { showSessionCall, signInCall, signOutCall } from "#api/dashboard/session.ts";
import { usageCsvCall } from "#api/dashboard/usage-csv.ts";
import { dashboardViewer } from "#api/dashboard/viewer.ts";
import { jsonPage } from "#api/pages/json-page.ts";
import { sessionCookie } from "#api/pages/session-cookie.ts";
import type { Services } from "#api/http/services.ts";

/** The partner dashboard: its page, and every call of it. Only signing in is open to everybody. */
export function dashboardPages(services: Services): Page[] {
  const cookie = sessionCookie("dashboard", services.config);
  const calls = jsonPage(services, {
    base: "/dashboard/api",
    open: [signInCall(services, cookie)],
    calls: [
      showSessionCall(services),
      signOutCall(services, cookie),
      overviewCall(services),
      marksCall(services),
      keysCall(services),
      listLimitsCall(services),
      askLimitsCall(services),
      usageCsvCall(services),
    ],
    admit: dashboardViewer(services, cookie),
  });
  return [calls, dashboardPage()];
}
