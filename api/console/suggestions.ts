import type { ConsoleDeps } from "#api/console/deps.ts";
import { actCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { decideSuggestion, openSuggestions, undoSuggestion } from "#src/stations/suggestions.ts";

const shown = 200;

/** What drivers say of stations themselves (decisions 15.47). */
export const suggestionDecisionCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/suggestions", { role: "viewer" }, async (ctx) => {
    ctx.body = { suggestions: await openSuggestions(services.db, shown) };
  }),
  actCall(services, "POST", "/suggestions/{id}/done", decideSuggestion.done),
  actCall(services, "POST", "/suggestions/{id}/dismiss", decideSuggestion.dismiss),
  actCall(services, "POST", "/suggestions/{id}/undo", undoSuggestion),
];
