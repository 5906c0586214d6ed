import { Type } from "typebox";
import { orThrow, problemObject } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import { caughtUp, fuelNow, type MarkDeps } from "#api/marks/intake.ts";
import { reply } from "#api/openapi/answers.ts";
import { presentState } from "#src/contract/present.ts";
import { readList } from "#src/contract/query.ts";
import { isRefusal, type Refusal, refuse } from "#src/contract/refusals.ts";
import { outputExample, reportState, reportStates } from "#src/contract/shapes/marks.ts";
import { dayMs } from "#src/domain/units.ts";
import { dayOfId, loadReports } from "#src/marks/marks.ts";

const keptMs = 7 * dayMs;
const idsMax = 500;

const stateExample = { ...outputExample, station_id: "n1234567", state: "processed" as const };

/** GET /reports/{report_id}: a mark's state, decisions 5. Kept 7 days, shown to its own partner only. */
export const getReportRoute = (services: MarkDeps) =>
  route({
    method: "GET",
    path: "/reports/{report_id}",
    access: "secret",
    summary: "What became of a mark",
    answers: {
      operationId: "getReport",
      tag: "Marks",
      description: "For the partner that sent it, for 7 days.",
      replies: {
        200: reply(
          "The mark's outcome, and the station's fuel block as it is now",
          reportState,
          stateExample,
        ),
      },
      problems: ["report-not-found"],
    },
    handle: async (ctx) => {
      const { partnerId } = ctx.state.key;
      const [state] = await statesOf(services, partnerId, [ctx.params["report_id"]!]);
      ctx.body = orThrow(state!);
    },
  });

/** GET /reports: the same for many marks at once, decisions 5.5. */
export const getReportsRoute = (services: MarkDeps) =>
  route({
    method: "GET",
    path: "/reports",
    access: "secret",
    summary: "What became of up to 500 marks",
    answers: {
      operationId: "getReports",
      tag: "Marks",
      description:
        "In the order asked for. Each is as of `GET /reports/{report_id}`, or has an `error`.",
      replies: {
        200: reply(
          "The marks' outcomes, and their stations' fuel blocks as they are now",
          reportStates,
          { reports: [stateExample], count: 1 },
        ),
      },
    },
    query: Type.Object({
      ids: Type.String({
        description: "Comma list of up to 500 `report_id`s",
        examples: ["88119435001857,88119435001858"],
      }),
    }),
    handle: async (ctx) => {
      const { query, key, requestId } = ctx.state;
      const ids = orThrow(readList("ids", query.ids, idsMax)).items;
      const states = await statesOf(services, key.partnerId, ids);
      const { problemBase } = services.config;
      const reports = states.map((state, i) =>
        isRefusal(state)
          ? { report_id: ids[i]!, error: problemObject(state, problemBase, requestId) }
          : state,
      );
      ctx.body = { reports, count: reports.length };
    },
  });

/** The states of the marks with these ids, in this order; a refusal for each that the partner cannot read. */
async function statesOf(
  services: MarkDeps,
  partnerId: number,
  texts: readonly string[],
): Promise<(ReturnType<typeof presentState> | Refusal)[]> {
  const { db, clock } = services;
  const since = clock() - keptMs;
  const ids = texts.map((text) => (/^\d{1,16}$/.test(text) ? Number(text) : 0));
  const kept = ids.filter((id) => Number.isSafeInteger(id) && dayOfId(id) + dayMs > since);
  const found = await loadReports(db, [...new Set(kept)]);
  const own = await caughtUp(
    services,
    found.filter((report) => report.partnerId === partnerId),
  );
  const byId = new Map(own.map((report) => [report.id, report]));
  return ids.map((id) => {
    const report = byId.get(id);
    if (report === undefined) return refuse("report-not-found");
    return presentState(report, fuelNow(services, report.stationId));
  });
}
