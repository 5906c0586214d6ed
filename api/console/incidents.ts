import { actCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { shownDays } from "#src/alarms/service/days.ts";
import {
  closeIncident,
  editIncident,
  listIncidents,
  openIncident,
  updateIncident,
} from "#src/alarms/service/incidents.ts";
import type { ConsoleIncidents } from "#src/contract/console.ts";

const answer = (incident: { id: number }) => incident;

/** Incidents that `/status` tells everybody of (decisions 16.34). */
export const incidentCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/incidents", { role: "viewer" }, async (ctx) => {
    ctx.body = {
      incidents: await listIncidents(services.db, shownDays, services.quarantine),
      days: shownDays,
    } satisfies ConsoleIncidents;
  }),
  actCall(services, "POST", "/incidents", openIncident, { status: 201, answer }),
  actCall(services, "POST", "/incidents/{id}/update", updateIncident, { answer }),
  actCall(services, "PATCH", "/incidents/{id}", editIncident, { answer }),
  actCall(services, "POST", "/incidents/{id}/close", closeIncident, { answer }),
];
