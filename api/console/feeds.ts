import { actCall, consoleCall, type ConsoleCall } from "#api/console/operator-gate.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import type { ConsoleFeeds } from "#src/contract/console-imports.ts";
import {
  addFeed,
  listFeeds,
  pauseFeed,
  removeFeed,
  resumeFeed,
  runFeed,
  withoutQuery,
} from "#src/import/feeds/feeds.ts";
import { shippedSources } from "#src/import/source-list.ts";

const answer = (feed: { id: number }) => feed;

/** Feeds, and the sources that one can be added for (decisions 14.35). */
export const feedCalls = (services: ConsoleDeps): ConsoleCall[] => [
  consoleCall("GET", "/feeds", { role: "viewer" }, async (ctx) => {
    const sources = shippedSources.map(({ name, title, files }) => ({
      ...{ name, title, has_address: files.some(({ address }) => address !== undefined) },
    }));
    const feeds = (await listFeeds(services.db)).map((feed) => ({
      ...{ ...feed, files: feed.files.map(withoutQuery) },
    }));
    ctx.body = { feeds, sources } satisfies ConsoleFeeds;
  }),
  actCall(services, "POST", "/feeds", addFeed, { status: 201, answer }),
  actCall(services, "POST", "/feeds/{id}/run", runFeed, { answer }),
  actCall(services, "POST", "/feeds/{id}/pause", pauseFeed, { answer }),
  actCall(services, "POST", "/feeds/{id}/resume", resumeFeed, { answer }),
  actCall(services, "DELETE", "/feeds/{id}", removeFeed),
];
