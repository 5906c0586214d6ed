import { Type } from "typebox";
import { line, rowId } from "#api/console/fields.ts";
import { actorOf, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import { orThrow } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { shownDays } from "#src/alarms/service/days.ts";
import {
  incidentTextMax,
  incidentTitleMax,
  listIncidents,
  openIncident,
  tellIncident,
} from "#src/alarms/service/incidents.ts";
import type { ConsoleIncidents } from "#src/contract/console.ts";
import { feeds } from "#src/domain/service-state.ts";

const told = {
  text: line(0, incidentTextMax),
  /** For readers of Russian; null or "" when nobody has written it. */
  text_ru: Type.Optional(Type.Union([line(0, incidentTextMax), Type.Null()])),
};
const opened = Type.Object({
  title: line(0, incidentTitleMax),
  title_ru: Type.Optional(Type.Union([line(0, incidentTitleMax), Type.Null()])),
  feeds: Type.Optional(
    Type.Array(Type.Union(feeds.map((feed) => Type.Literal(feed))), { maxItems: feeds.length }),
  ),
  ...told,
});
const more = Type.Object(told);

/** Incidents that `/status` tells everybody of (decisions 16.34). */
export const incidentCalls = ({ db, quarantine }: Services): ConsoleCall[] => [
  consoleCall("GET", "/incidents", { role: "viewer" }, async (ctx) => {
    ctx.body = {
      incidents: await listIncidents(db, shownDays, quarantine),
      days: shownDays,
    } satisfies ConsoleIncidents;
  }),
  consoleCall("POST", "/incidents", { role: "operator", body: opened }, async (ctx) => {
    const { title, title_ru, text, text_ru, feeds: touched = [] } = ctx.state.body;
    ctx.status = 201;
    ctx.body = orThrow(
      await openIncident(db, actorOf(ctx), {
        title: inBoth(title, title_ru),
        text: inBoth(text, text_ru),
        feeds: touched,
      }),
    );
  }),
  ...(["update", "close"] as const).map((verb) =>
    consoleCall(
      "POST",
      `/incidents/{id}/${verb}`,
      { role: "operator", body: more },
      async (ctx) => {
        const { text, text_ru } = ctx.state.body;
        const end = verb === "close" ? "close" : "stays open";
        const id = rowId(ctx.params["id"]);
        ctx.body = orThrow(await tellIncident(db, actorOf(ctx), id, inBoth(text, text_ru), end));
      },
    ),
  ),
];

const inBoth = (en: string, ru: string | null | undefined) => ({ en, ru: ru || null });
