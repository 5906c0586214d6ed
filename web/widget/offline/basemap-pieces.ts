import { dayMs } from "#src/domain/units.ts";
import type { WorkerEvent } from "#web/widget/offline/worker-scope.ts";

const cacheName = "fuelmark-basemap";
const piecesMax = 800;
const droppedAtOnce = 100;

/** A piece of a base map that this service gives out by Range. */
export const isPiece = (root: URL, { headers }: Request, { pathname }: URL): boolean =>
  pathname.startsWith(`${root.pathname}basemap/`) &&
  pathname.endsWith(".pmtiles") &&
  headers.has("range");

/**
 * A piece that was seen within the day as it was kept; else from the network, and without one the kept piece, however
 * old. A cache takes no partial answers: it holds each piece as a whole answer, named by its range.
 */
export async function answerPiece(event: WorkerEvent, request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  const name = `${request.url}?${request.headers.get("range") ?? ""}`;
  const known = await cache.match(name);
  if (known !== undefined && isYoung(known)) return asPiece(known);
  const fresh = await fetch(request).catch(() => null);
  if (fresh === null) return known === undefined ? Response.error() : asPiece(known);
  if (fresh.status === 206) event.waitUntil(keep(cache, name, request.url, fresh.clone()));
  return fresh;
}

const isYoung = ({ headers }: Response): boolean =>
  Date.now() - Date.parse(headers.get("date") ?? "") < dayMs;

const asPiece = ({ body, headers }: Response): Response =>
  new Response(body, { status: 206, headers });

async function keep(cache: Cache, name: string, file: string, piece: Response): Promise<void> {
  const keys = await cache.keys();
  const others = keys.filter(({ url }) => url.startsWith(`${file}?`));
  const last = others.at(-1);
  const before = last === undefined ? undefined : await cache.match(last);
  // Pieces of two versions of a file do not fit together.
  const isOther = before !== undefined && before.headers.get("etag") !== piece.headers.get("etag");
  const dropped = isOther ? others : keys.length < piecesMax ? [] : keys.slice(0, droppedAtOnce);
  await Promise.all(dropped.map((key) => cache.delete(key)));
  await cache.put(name, new Response(piece.body, { headers: piece.headers }));
}
