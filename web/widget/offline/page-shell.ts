import { getCacheKeyForURL } from "workbox-precaching";
import { shellFor } from "#web/widget/offline/shell-text.ts";
import type { WorkerEvent } from "#web/widget/offline/worker-scope.ts";

/** The page at the root as it came last. */
const cacheName = "fuelmark-page";
const patienceMs = 4000;

/** `/` and `/s/<station id>`: the operator's own map. A partner's widget has pages of its own, in frames. */
export const isMapPage = (root: URL, { origin, pathname }: URL): boolean =>
  origin === root.origin &&
  (pathname === root.pathname || /^s\/[^/]+$/.test(pathname.slice(root.pathname.length)));

/**
 * The page from the network; the kept page, without the statuses that came with it, when the network takes longer than
 * four seconds or answers that the service is away.
 */
export async function answerPage(
  root: URL,
  event: WorkerEvent,
  request: Request,
  url: URL,
): Promise<Response> {
  const asked = fetch(request).catch(() => null);
  event.waitUntil(asked.then((answer) => keep(root, url, answer)).catch(() => {}));
  const late = new Promise<null>((done) => setTimeout(() => done(null), patienceMs));
  const first = await Promise.race([asked, late]);
  // A way to another page has status 0 here, and is the browser's to go.
  if (first !== null && first.status < 500) return first.clone();
  return (await kept(root, url)) ?? (await asked)?.clone() ?? Response.error();
}

/**
 * Asks for the page at the root and keeps it; a way to another page is none. Rejects when it does not come, or is of
 * another build than these files.
 */
export async function keepPage(root: URL): Promise<void> {
  const answer = await fetch(root, { cache: "no-store", redirect: "manual" });
  if (answer.type === "opaqueredirect") return;
  if (!(await keep(root, root, answer))) throw new Error("The page does not fit the files.");
}

const assetsOf = (text: string): string[] =>
  [...text.matchAll(/"(assets\/[^"]+)"/g)].map(([, name]) => name!);

/** Keeps a page only with its assets: a page of another build could not start without network. True when it is kept. */
async function keep(root: URL, { pathname }: URL, answer: Response | null): Promise<boolean> {
  if (answer === null || !answer.ok || pathname !== root.pathname) return false;
  const copy = answer.clone();
  const isHeld = (asset: string): boolean =>
    getCacheKeyForURL(new URL(asset, root).href) !== undefined;
  if (!assetsOf(await answer.clone().text()).every(isHeld)) return false;
  await (await caches.open(cacheName)).put(root, copy);
  return true;
}

async function kept(root: URL, url: URL): Promise<Response | undefined> {
  const known = await (await caches.open(cacheName)).match(root, { ignoreVary: true });
  if (known === undefined) return undefined;
  const headers = new Headers(known.headers);
  for (const name of ["content-encoding", "content-length", "etag"]) headers.delete(name);
  const station = decodeURIComponent(url.pathname.slice(root.pathname.length).replace(/^s\//, ""));
  return new Response(shellFor(await known.text(), station), { headers });
}
