import { actCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { addStation, editStation, type StationCard } from "#src/stations/edit-station.ts";
import {
  doubtfulPairs,
  keepStationsApart,
  mergeStation,
  splitStation,
} from "#src/stations/join-stations.ts";
import { closeStation, reopenStation } from "#src/stations/station-service.ts";

const answer = (station: StationCard) => ({ station });

/** Corrections of stations by hand (decisions 13.16). */
export const stationCalls = (services: ConsoleDeps): ConsoleCall[] => [
  actCall(services, "POST", "/stations", addStation, { answer: (added) => added, status: 201 }),
  actCall(services, "PATCH", "/stations/{id}", editStation, { answer: (edited) => edited }),
  actCall(services, "POST", "/stations/{id}/close", closeStation, { answer }),
  actCall(services, "POST", "/stations/{id}/reopen", reopenStation, { answer }),
  actCall(services, "POST", "/stations/{id}/merge", mergeStation),
  actCall(services, "POST", "/stations/{id}/split", splitStation),
  actCall(services, "POST", "/stations/{id}/keep-apart", keepStationsApart),
  consoleCall("GET", "/station-pairs", { role: "viewer" }, async (ctx) => {
    ctx.body = { pairs: await doubtfulPairs(services.db) };
  }),
];
