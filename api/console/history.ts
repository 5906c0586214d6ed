import { Type } from "typebox";
import { consoleCall, type ConsoleCall, idOf } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { cutToPage } from "#src/infrastructure/lists.ts";
import { searchStations, stationPage } from "#src/marks/station-history.ts";
import { unknown } from "#src/operators/act.ts";
import { stationId } from "#src/operators/inputs.ts";
import { listActions } from "#src/operators/operator-log.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const entriesShown = 100;
const part = Type.Optional(Type.String({ maxLength: 200 }));
const logFilter = Type.Object({
  actor: part,
  action: part,
  subject: part,
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
});

const found = 50;
const search = Type.Object({ q: Type.Optional(Type.String({ maxLength: 120 })) });
const older = Type.Object({
  before: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
});

/** The history: stations with their status, its reasons and all their marks; and the operators' log. */
export const historyCalls = ({ db, config }: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/stations", { role: "viewer", query: search }, async (ctx) => {
    const { q = "" } = ctx.state.query;
    ctx.body = { stations: await searchStations(db, q.trim(), found) };
  }),
  consoleCall("GET", "/stations/{id}", { role: "viewer", query: older }, async (ctx) => {
    const { before = null } = ctx.state.query;
    const id = idOf(stationId, ctx.params["id"]);
    ctx.body = orThrow((await stationPage(db, id, before, config)) ?? unknown("station", id));
  }),
  consoleCall("GET", "/log", { role: "viewer", query: logFilter }, async (ctx) => {
    const found = await listActions(db, ctx.state.query, "part", entriesShown + 1);
    const { page, next } = cutToPage(found, entriesShown);
    ctx.body = { entries: page.map((entry) => presented(entry, inMs)), next };
  }),
];
