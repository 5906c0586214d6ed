import { Type } from "typebox";
import { consoleCall, type ConsoleCall } from "#api/console/call.ts";
import { unknown } from "#api/console/fields.ts";
import type { Services } from "#api/http/services.ts";
import { searchStations, stationPage } from "#src/marks/station-history.ts";

const found = 50;
const idForm = /^[A-Za-z0-9_-]{1,64}$/;

const search = Type.Object({ q: Type.Optional(Type.String({ maxLength: 120 })) });
const older = Type.Object({
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
});

/** Stations: what they show, why, and every mark that was made on them. */
export const stationCalls = ({ db, config }: Services): ConsoleCall[] => [
  consoleCall("GET", "/stations", { role: "viewer", query: search }, async (ctx) => {
    const { q = "" } = ctx.state.query;
    ctx.body = { stations: await searchStations(db, q.trim(), found) };
  }),
  consoleCall("GET", "/stations/{id}", { role: "viewer", query: older }, async (ctx) => {
    const id = ctx.params["id"]!;
    const { before = null } = ctx.state.query;
    const page = idForm.test(id) ? await stationPage(db, id, before, config) : null;
    if (page === null) throw unknown("station");
    ctx.body = page;
  }),
];
