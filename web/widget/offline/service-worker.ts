import { addRoute, cleanupOutdatedCaches, precache } from "workbox-precaching";
import { registerRoute } from "workbox-routing";
import { answerPiece, isPiece } from "#web/widget/offline/basemap-pieces.ts";
import { sendFromWorker, syncTag } from "#web/widget/offline/background-sync.ts";
import { takePushes } from "#web/widget/offline/push-events.ts";
import { answerPage, isMapPage, keepPage } from "#web/widget/offline/page-shell.ts";
import type { PrecacheEntry, WorkerScope } from "#web/widget/offline/worker-scope.ts";

/**
 * The map's service worker (decisions 15.19). It serves the map's two pages, their assets and the pieces of the
 * base map; every other request goes its usual way.
 */
declare const mapAssets: PrecacheEntry[];

const scope = self as unknown as WorkerScope;
const root = new URL("./", scope.location.href);

precache(mapAssets);
cleanupOutdatedCaches();
addRoute({ cleanURLs: false, directoryIndex: "" });
registerRoute(
  ({ request, url }) => request.mode === "navigate" && isMapPage(root, url),
  ({ event, request, url }) => answerPage(root, event as never, request, url),
);
registerRoute(
  ({ request, url, sameOrigin }) => sameOrigin && isPiece(root, request, url),
  ({ event, request }) => answerPiece(event as never, request),
);

scope.addEventListener("install", (event) => {
  // Without a page for its files the worker does not come, and the one before goes on.
  event.waitUntil(keepPage(root));
  // The new worker starts at once: files of the former version, which open pages need, stay on the server for a day.
  event.waitUntil(scope.skipWaiting());
});
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
takePushes(scope as never);
scope.addEventListener("sync", (event) => {
  if (event.tag === syncTag) event.waitUntil(sendFromWorker());
});
