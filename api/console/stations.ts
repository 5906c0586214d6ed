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
import { decideSuggestion, openSuggestions, undoSuggestion } from "#src/stations/suggestions.ts";
import type { ConsoleBrands, ConsoleFieldSources } from "#src/contract/console.ts";
import { aliasBrand, listAliases, listBrands, unaliasBrand } from "#src/import/brand-aliases.ts";
import { Type } from "typebox";
import { refused } from "#api/http/errors.ts";
import { entries } from "#src/contract/query.ts";
import { line } from "#src/operators/inputs.ts";
import { handFields } from "#src/stations/hand-edits.ts";
import {
  joinedSources,
  previewFieldSources,
  readFieldSources,
  setFieldSources,
} from "#src/stations/shown-fields.ts";

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

const suggestionsShown = 200;

/** What drivers say of stations themselves (decisions 15.47). */
export const suggestionDecisionCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/suggestions", { role: "viewer" }, async (ctx) => {
    ctx.body = { suggestions: await openSuggestions(services.db, suggestionsShown) };
  }),
  actCall(services, "POST", "/suggestions/{id}/done", decideSuggestion.done),
  actCall(services, "POST", "/suggestions/{id}/dismiss", decideSuggestion.dismiss),
  actCall(services, "POST", "/suggestions/{id}/undo", undoSuggestion),
];

const shownMax = 200;

/** Brands that nobody knows, and the aliases (decisions 14.25). */
export const brandCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/brands", { role: "viewer" }, async (ctx) => {
    const [aliases, brands] = await Promise.all([
      listAliases(services.db),
      listBrands(services.db),
    ]);
    const unknown = brands.filter(({ known }) => known === "no");
    const count = (some: typeof brands): number =>
      some.reduce((sum, { stations }) => sum + stations, 0);
    const stations = count(brands);
    ctx.body = {
      ...{ aliases, brands: unknown.slice(0, shownMax), unknown: unknown.length },
      ...{ stations, stations_known: stations - count(unknown) },
    } satisfies ConsoleBrands;
  }),
  actCall(services, "POST", "/brands/{id}/alias", aliasBrand, { answer: (done) => done }),
  actCall(services, "DELETE", "/brands/{id}/alias", unaliasBrand),
];

const fieldPath = "/field-sources";
const sourcesQuery = Type.Object({ sources: line(0, 1000) });

/** Which source wins a field of joined stations, and how many would change by another rule (decisions 14.42). */
export const fieldSourceCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", fieldPath, { role: "viewer" }, async (ctx) => {
    const rules = await readFieldSources(services.db);
    ctx.body = {
      fields: handFields.map((field) => ({ field, sources: rules.get(field) ?? [] })),
      sources: await joinedSources(services.db),
    } satisfies ConsoleFieldSources;
  }),
  consoleCall(
    "GET",
    `${fieldPath}/{id}/preview`,
    { role: "viewer", query: sourcesQuery },
    async (ctx) => {
      const field = handFields.find((one) => one === ctx.params["id"]);
      if (field === undefined) throw refused("not-found", "There is no such field.");
      ctx.body = await previewFieldSources(services.db, field, entries(ctx.state.query.sources));
    },
  ),
  actCall(services, "POST", `${fieldPath}/{id}`, setFieldSources, { answer: (done) => done }),
];
