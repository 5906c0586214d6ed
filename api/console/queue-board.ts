import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  IServerAdapter,
  UIConfig,
} from "@bull-board/api/typings/app";
import { Router } from "@koa/router";
import { routesOf } from "#api/http/register-routes.ts";
import { pageHeaders } from "#api/pages/page-headers.ts";
import type { Middleware, State } from "#api/http/route.ts";
import { pickLanguage } from "#api/pages/messages.ts";
import type { Producer } from "#src/infrastructure/queues.ts";
import { queueNames } from "#src/infrastructure/queue-state.ts";

const uiFolder = join(
  dirname(createRequire(import.meta.url).resolve("@bull-board/ui/package.json")),
  "dist",
);

/** Scripts, styles and words of the board's page. */
export const boardFiles = join(uiFolder, "static");

// bull-board styles inline; its scripts come from here alone, like all others.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
].join("; ");

/**
 * bull-board over this process's queues, as routes below `prefix`: its page, and the calls of its script, which find
 * their body in `ctx.state.body`. `base` is where a browser sees them. Rejects while Redis is away: a queue made then
 * stays broken.
 */
export async function createQueueBoard(
  producer: Producer,
  prefix: string,
  base: string,
): Promise<Middleware> {
  // Loaded when an operator looks: most processes never need this memory.
  const { createBullBoard } = await import("@bull-board/api");
  const { BullMQAdapter } = await import("@bull-board/api/bullMQAdapter");
  const router = new Router<State>({ prefix, sensitive: true, strict: true });
  const template = readFileSync(join(uiFolder, "index.ejs"), "utf8");
  let queues: BullBoardQueues = new Map();
  let uiConfig: UIConfig = {};

  const addCall = ({ route, method, handler }: AppControllerRoute): void => {
    router.register([route].flat(), [method].flat(), async (ctx) => {
      const query = Object.fromEntries(new URLSearchParams(ctx.querystring));
      const { params } = ctx;
      const body = ctx.state.body as Record<string, unknown>;
      const answer = await handler({ queues, uiConfig, query, params, body, headers: {} });
      ctx.status = answer.status ?? 200;
      ctx.set("Cache-Control", "no-store");
      ctx.body = answer.body;
    });
  };
  const addPage = ({ route, handler }: AppViewRoute): void => {
    router.get([route].flat(), (ctx) => {
      const lng = languages[pickLanguage(null, ctx.get("accept-language"))];
      const { params } = handler({ basePath: base, uiConfig: { ...uiConfig, locale: { lng } } });
      ctx.set({
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        ...pageHeaders(policy),
        "Referrer-Policy": "no-referrer",
      });
      ctx.body = withoutForeign(filled(template, params)).replace('lang="en"', `lang="${lng}"`);
    });
  };
  const adapter: IServerAdapter = {
    setQueues: (all) => ((queues = all), adapter),
    setApiRoutes: (routes) => (routes.forEach(addCall), adapter),
    setEntryRoute: (route) => (addPage(route), adapter),
    setUIConfig: (config) => ((uiConfig = config), adapter),
    setViewsPath: () => adapter,
    setStaticPath: () => adapter,
    setErrorHandler: () => adapter,
  };
  createBullBoard({
    queues: queueNames.map((name) => new BullMQAdapter(producer.queue(name))),
    serverAdapter: adapter,
    options: {
      uiConfig: { boardTitle: "Fuelmark queues", miscLinks: [{ text: "Console", url: "../" }] },
    },
  });
  return routesOf(router);
}

/** Our languages by their names in bull-board. */
const languages = { en: "en-GB", ru: "ru-RU" } as const;

const filled = (template: string, params: Record<string, string>): string =>
  template.replace(/<%[=-] (\w+) %>/g, (_, name: string) => params[name] ?? "");

/** Its page loads a font from another host: the system's does as well. */
const withoutForeign = (page: string): string =>
  page.replace(/<link [^>]*href="https?:[^>]*>/g, "");
