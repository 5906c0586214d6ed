import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FrameLocator, Page } from "playwright-core";
import { addKey } from "#test/api/edge.ts";
import { createClient, until } from "#test/flow/client.ts";
import { type Country, placeOf } from "#test/flow/country.ts";
import type { TestInstance } from "#test/harness/instance.ts";
import type { RunningRole } from "#test/harness/roles.ts";
import { openStage } from "#test/flow/stage.ts";
import { type Settings, settingsOf, use } from "#test/harness/use.ts";

/** A service with a test country, and a partner's website that embeds its map. */
export interface MapSite {
  instance: TestInstance;
  country: Country;
  web: RunningRole;
  /** Publishable, bound to `shop.test`. */
  key: string;
  /** The map's own address with these parameters beside the key. */
  widgetUrl(parameters?: Record<string, string>): string;
  /** A page on `host` with the map in an iframe. `coep`: its own Cross-Origin-Embedder-Policy, `sandbox`: the iframe's, if any. */
  pageOn(host: string, parameters?: Record<string, string>): string;
  stop(): Promise<void>;
}

/** The site of a `describe`. */
export const useMap = (options: Parameters<typeof openMapSite>[0] = {}): MapSite =>
  use(
    () => openMapSite(options),
    (site) => site.stop(),
  );

/** @param roles further roles than `web`, and what the key is allowed */
export async function openMapSite(
  options: { stations?: number; roles?: string[]; key?: object; env?: Settings } = {},
): Promise<MapSite> {
  const roles = ["web", ...(options.roles ?? [])];
  const settings = { KEYS_REFRESH_MS: "200", ...settingsOf(options.env ?? {}) };
  const stage = await openStage(options.stations ?? 60, roles, settings);
  const { instance, country, web } = stage;
  const bound = { domains: ["shop.test"], ...options.key };
  const key = await addKey(country.db, country.partnerId, "publishable", bound);
  const widgetUrl = (parameters: Record<string, string> = {}): string =>
    `${web.baseUrl}/widget/?${new URLSearchParams({ key, ...parameters }).toString()}`;
  const site = await openSite(widgetUrl);
  return {
    instance,
    country,
    web,
    key,
    widgetUrl,
    pageOn: (host, parameters = {}) =>
      `http://${host}:${site.port}/?${new URLSearchParams(parameters).toString()}`,
    stop: async () => {
      site.server.close();
      await stage.close();
    },
  };
}

async function openSite(
  widgetUrl: (parameters: Record<string, string>) => string,
): Promise<{ server: Server; port: number }> {
  const server = createServer(({ url = "/" }, response) => {
    const { coep, sandbox, ...given } = Object.fromEntries(
      new URL(url, "http://shop.test").searchParams,
    );
    if (coep !== undefined) {
      response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
      response.setHeader("Cross-Origin-Embedder-Policy", coep);
    }
    const src = widgetUrl(given).replaceAll("&", "&amp;");
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(
      `<!doctype html><title>A partner's page</title><h1>Fuel near you</h1>
       <iframe title="map" src="${src}" width="100%" height="600" allow="geolocation; fullscreen"${sandbox === undefined ? "" : ` sandbox="${sandbox}"`}></iframe>`,
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** Marks stations by their numbers, each by a driver of its own, until the service shows them. */
export async function tell(
  { web, country }: MapSite,
  said: readonly (readonly [n: number, mark: Record<string, unknown>])[],
): Promise<void> {
  const api = createClient(web.baseUrl, country.secret);
  for (const [n, mark] of said) {
    await api.mark(placeOf(n), `driver ${n}`, mark);
    await until(
      () => api.get(`/stations/${placeOf(n).id}`),
      ({ body }) => body.station.fuel.status !== "nodata",
    );
  }
}

/** For a page whose browser cannot draw the map. */
export const withoutWebgl =
  "const own = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return kind === 'webgl2' ? null : own.call(this, kind, ...more); };";

/** The map in a partner's page. */
export const frameOf = (page: Page): FrameLocator => page.frameLocator("iframe");

/** Sends the mark that can still be undone; on a machine too slow for the press it has gone by itself. */
export const sendNow = (map: Page | FrameLocator): Promise<void> =>
  map
    .getByRole("button", { name: "Send now" })
    .click({ timeout: 6000 })
    .catch(() => {});

/**
 * Waits until the map is there and its stations are loaded: the list's title says how many are in view. Leaves the list
 * open.
 */
export async function stationsInView(map: Page | FrameLocator): Promise<number> {
  await map.getByRole("region", { name: "Map of filling stations" }).waitFor();
  const list = map.getByRole("button", { name: "List of stations" });
  if ((await list.getAttribute("aria-expanded")) !== "true") await list.click();
  const title = map.getByRole("heading", { name: /[1-9]\d* stations? in view/ });
  await title.waitFor();
  return Number.parseInt((await title.textContent()) ?? "", 10);
}
