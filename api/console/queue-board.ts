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
import type { Producer } from "#src/infrastructure/queues.ts";
import { queueNames } from "#src/infrastructure/queue-state.ts";

/** What bull-board answers. */
export interface BoardAnswer {
  status: number;
  body: object | string;
}

export interface BoardRequest {
  method: string;
  /** Below the board's base: `/api/queues`. */
  path: string;
  query: Record<string, string>;
  body: Record<string, unknown>;
}

/** bull-board over this process's queues, behind no server of its own. */
export interface QueueBoard {
  /** The page for a path of the board's own; null for any other. */
  page(path: string): string | null;
  /** Answers a call of the page; null when there is no such call. Rejects while Redis is away. */
  call(request: BoardRequest): Promise<BoardAnswer | null>;
}

const uiFolder = join(
  dirname(createRequire(import.meta.url).resolve("@bull-board/ui/package.json")),
  "dist",
);

/** Scripts, styles and words of the board's page. */
export const boardFiles = join(uiFolder, "static");

/** Rejects while Redis is away: a queue made then stays broken. */
export async function createQueueBoard(producer: Producer, base: string): Promise<QueueBoard> {
  // Only when somebody looks: memory that most processes never need.
  const { createBullBoard } = await import("@bull-board/api");
  const { BullMQAdapter } = await import("@bull-board/api/bullMQAdapter");
  let queues: BullBoardQueues = new Map();
  let calls: { method: string; pattern: RegExp; names: string[]; route: AppControllerRoute }[] = [];
  let entry: AppViewRoute | null = null;
  let uiConfig: UIConfig = {};
  const adapter: IServerAdapter = {
    setQueues: (given) => ((queues = given), adapter),
    setApiRoutes: (routes) => ((calls = routes.flatMap(placesOf)), adapter),
    setEntryRoute: (route) => ((entry = route), adapter),
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
  const template = readFileSync(join(uiFolder, "index.ejs"), "utf8");

  return {
    page: (path) => {
      const paths = [entry?.route ?? []].flat().map(patternOf);
      if (entry === null || !paths.some(({ pattern }) => pattern.test(path))) return null;
      const { params } = entry.handler({ basePath: base, uiConfig });
      return withNames(withoutForeign(filled(template, params)));
    },
    call: async ({ method, path, query, body }) => {
      for (const one of calls) {
        const found = one.method === method.toLowerCase() ? one.pattern.exec(path) : null;
        if (found === null) continue;
        const values = found.slice(1).map((part) => decodeURIComponent(part ?? ""));
        const params = Object.fromEntries(one.names.map((name, n) => [name, values[n]]));
        const answer = await one.route.handler({
          queues,
          uiConfig,
          query,
          params,
          body,
          headers: {},
        });
        return { status: answer.status ?? 200, body: answer.body };
      }
      return null;
    },
  };
}

const placesOf = (route: AppControllerRoute) =>
  [route.method]
    .flat()
    .flatMap((method) =>
      [route.route].flat().map((path) => ({ method, route, ...patternOf(path) })),
    );

/** `/queue/:queueName` as a pattern with its names. */
function patternOf(path: string): { pattern: RegExp; names: string[] } {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? "");
  return { pattern: new RegExp(`^${path.replace(/:\w+/g, "([^/]+)")}$`), names };
}

const filled = (template: string, params: Record<string, string>): string =>
  template.replace(/<%[=-] (\w+) %>/g, (_, name: string) => params[name] ?? "");

/** Where the page looks for the script that names its buttons, below the board's base. */
export const namesPath = "/names.js";

const withNames = (page: string): string =>
  page.replace("</body>", `<script defer src="${namesPath.slice(1)}"></script></body>`);

/** Its page loads a font from another host: the system's does as well. */
const withoutForeign = (page: string): string =>
  page.replace(/<link [^>]*href="https?:[^>]*>/g, "");
