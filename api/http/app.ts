import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Context, State, Step } from "#api/http/context.ts";
import { admit } from "#api/http/authorize.ts";
import { authenticate } from "#api/http/authenticate.ts";
import { callRoute } from "#api/http/call-route.ts";
import { count, countOutcome } from "#api/http/count.ts";
import { explain } from "#api/http/explain.ts";
import { findRoute } from "#api/http/find-route.ts";
import { identify } from "#api/http/identify.ts";
import { loaded } from "#api/http/loaded.ts";
import { logAccess } from "#api/http/log-access.ts";
import { respond } from "#api/http/respond.ts";
import { createPageServer } from "#api/http/page-server.ts";
import type { Route } from "#api/http/route.ts";
import { createRouter } from "#api/http/router.ts";
import type { Services } from "#api/http/services.ts";

export type App = (req: IncomingMessage, res: ServerResponse) => void;
/** A step that answers some path outside the API and lets everything else pass: plain Koa middleware. */
export type Page = (
  ctx: Context,
  next: () => Promise<Answer | undefined>,
) => Promise<Answer | undefined> | Answer | undefined;

/**
 * The web role's request handler. A path of a route goes straight through the API's steps; for any other the pages are
 * asked first, without a key and unmetered.
 */
export function createApp(
  services: Services,
  routes: readonly Route[],
  pages: readonly Page[] = [],
): App {
  const router = createRouter(routes);
  const begin = identify(services);
  const log = logAccess(services);
  const callApi = createApi(services, routes);
  const showPage = createPageServer(services, routes, pages, callApi);
  return (req, res) => {
    const state = begin(req, res);
    log(state);
    state.match = router(state.path) ?? undefined;
    if (state.match === undefined) showPage(state);
    else void callApi(state);
  };
}

/** This list is the order of checks of decisions.md 3, once and for all routes: the first answer ends the way. */
export function createApi(
  services: Services,
  routes: readonly Route[],
): (state: State) => Promise<void> {
  const steps: Step[] = [
    authenticate(services),
    admit(services),
    count(services),
    loaded(services),
    findRoute,
    callRoute(routes),
  ];
  const noteOutcome = countOutcome(services);
  const answerError = explain(services);
  const send = respond(services);

  const answerOf = async (state: State): Promise<Answer> => {
    for (const step of steps) {
      const given = step(state);
      // Most steps have their answer at once: waiting for it would cost a turn of the promise queue each.
      const answer = given instanceof Promise ? await given : given;
      if (answer !== undefined) return answer;
    }
    throw new Error("the last step gave no answer");
  };

  return async (state) => {
    let answer: Answer;
    try {
      answer = await answerOf(state);
    } catch (error) {
      answer = answerError(state, error);
    }
    noteOutcome(state, answer);
    try {
      await send(state, answer);
    } catch (error) {
      const problem = answerError(state, error);
      if (state.res.headersSent) state.res.destroy();
      else await send(state, problem);
    }
  };
}
