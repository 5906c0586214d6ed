import { Type } from "typebox";
import { pathId } from "#api/account/webhooks.ts";
import { dashboardCall } from "#api/dashboard/viewer.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import { orThrow, Refused } from "#api/http/errors.ts";
import type { MadeLink, ShownLink } from "#src/contract/dashboard.ts";
import { endLink, linkDays, listLinks, makeLink } from "#src/keys/reading-links.ts";
import { inMs, presented } from "#src/operators/presented.ts";

const wish = Type.Object(
  {
    label: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: "^[^\\p{C}]*[^\\p{C}\\s][^\\p{C}]*$",
    }),
    days: Type.Integer({ minimum: linkDays[0], maximum: linkDays[1] }),
  },
  { additionalProperties: false },
);

/** Links that show the dashboard and change nothing (decisions 12.16), for whoever has signed in with the key. */
export const linkCalls = ({ db, clock, config }: DashboardDeps) => [
  dashboardCall("GET", "/links", {}, async (ctx) => {
    const links = await listLinks(db, ctx.state.viewer.key.partnerId);
    ctx.body = {
      links: links.map((link) => {
        const { expires, last_seen, ended, ...rest } = presented(link, inMs);
        const isOver = ended !== null || expires <= clock();
        // Nobody has opened it since it was made.
        const seen = last_seen === rest.created ? null : last_seen;
        return { ...rest, expires, ended, seen, over: isOver } satisfies ShownLink;
      }),
    };
  }),
  dashboardCall("POST", "/links", { body: wish }, async (ctx) => {
    const { viewer, body } = ctx.state;
    const label = body.label.trim();
    const made = orThrow(await makeLink(db, viewer.key, { ...body, label }, clock()));
    const { id, token, expiresAt: expires } = made;
    ctx.status = 201;
    // Behind the #, so that no server and no log of one sees it.
    const url = `${config.baseUrl.replace(/\/$/, "")}/dashboard/#link=${token}`;
    ctx.body = { id, url, expires } satisfies MadeLink;
  }),
  dashboardCall("DELETE", "/links/{id}", {}, async (ctx) => {
    const id = pathId(ctx.params["id"]);
    const refusal = await endLink(db, ctx.state.viewer.key.partnerId, id);
    if (refusal !== null) throw new Refused(refusal);
    ctx.status = 204;
  }),
];
