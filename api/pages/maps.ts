import type { Context, PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { moved } from "#api/pages/built-page.ts";
import type { Beginning } from "#api/pages/early-list.ts";
import { consumerKeyInForce, createMapPage } from "#api/pages/map-page.ts";
import { messagesOf, keptStart, pickLanguage } from "#api/pages/messages.ts";
import { shareTags } from "#api/pages/share-tags.ts";
import { nearestOf } from "#api/pages/station-text.ts";
import { refuseWidget, type WidgetRefusal } from "#api/pages/widget-refusal.ts";
import { centerOf } from "#api/widget/widget-config.ts";
import type { EmbedKeyState } from "#src/contract/embed.ts";
import { frameAncestors, isAllowedPage } from "#src/contract/hosts.ts";
import { parseGrade } from "#src/domain/vocabulary.ts";
import type { KeyInfo, KeyStore } from "#src/keys/key-store.ts";

const radiusM = 25_000;
const earlyMax = 20;
const citiesMax = 12;

/**
 * `/`: the consumer map, the widget's page with the operator's own key. The plain list while that key is
 * not in force.
 */
export function consumerMapPage(router: PageRouter, services: PageDeps): void {
  const mapPage = createMapPage(services);
  router.get("/", async (ctx) => {
    const key = await consumerKeyInForce(services);
    if (key === null) {
      ctx.set("Cache-Control", "no-cache");
      moved(ctx, 302, "list");
      return;
    }
    const given = knownOf(ctx);
    const language = pickLanguage(given.get("lang"), ctx.get("accept-language"));
    const { siteName, siteDescription } = messagesOf(language);
    const tags = { title: siteName, description: siteDescription, language };
    mapPage(ctx, {
      ...{ root: "", key, language, frameAncestors: ["'self'"] },
      tags: shareTags({ ...tags, path: "", baseUrl: services.config.baseUrl, shown: "map" }),
      ...beginning(services, given, true),
    });
  });
}

/**
 * Language, fuel and city of a page: of its address, else of the cookie in which the operator's own map keeps the
 * device's choice (decisions 15.43).
 */
export function knownOf(ctx: Context): URLSearchParams {
  const given = new URLSearchParams(ctx.querystring);
  const isPlaced = ["lat", "lon", "city"].some((name) => given.has(name));
  for (const [name, value] of keptStart(ctx))
    if (!given.has(name) && !(isPlaced && name === "city")) given.set(name, value);
  return given;
}

/**
 * `/widget/`: the map for a partner's iframe (docs/contract.md 4.11). Only the key's domains may frame it, and the page
 * that embeds it is looked at when it is loaded (decisions 8).
 */
export function widgetPages(router: PageRouter, services: PageDeps): void {
  const { keys, config } = services;
  const mapPage = createMapPage(services);

  const judge = async (text: string, referer: string): Promise<KeyInfo | WidgetRefusal> => {
    const key = await judgeWidgetKey(keys, text);
    if (typeof key === "string") return key;
    return isAllowedPage({ referer }, key.domains, config.baseUrl) ? key : "domain-not-allowed";
  };

  router.get("/widget", (ctx) => {
    ctx.set("Cache-Control", "no-cache");
    moved(ctx, 308, `widget/${ctx.search}`);
  });
  router.get("/widget/", async (ctx) => {
    const given = new URLSearchParams(ctx.querystring);
    const text = given.get("key")?.trim() ?? "";
    const key = await judge(text, ctx.get("referer")).catch(() => "unavailable" as const);
    if (typeof key === "string") {
      refuseWidget(ctx, key);
      return;
    }
    mapPage(ctx, {
      ...{ root: "../", frameAncestors: frameAncestors(key.domains) },
      language: pickLanguage(given.get("lang"), ctx.get("accept-language")),
      ...beginning(services, given, false),
    });
  });
}

/** The key of a map, wherever the map is to stand; or why there is none. Rejects when keys cannot be looked up. */
export async function judgeWidgetKey(
  keys: Pick<KeyStore, "find">,
  text: string,
): Promise<KeyInfo | Exclude<EmbedKeyState, "ok">> {
  if (text === "") return "no-key";
  if (text.startsWith("svc_")) return "secret-key";
  const key = await keys.find(text);
  if (key === null) return "invalid-key";
  if (key.kind === "secret") return "secret-key";
  return key.partner.enabled ? key : "partner-disabled";
}

/**
 * The stations where the map will open by its address (docs/contract.md 4.11). The operator's own map begins with those
 * that have the fuel, and takes nobody to be where the map's centre is.
 */
function beginning(
  services: PageDeps,
  given: URLSearchParams,
  answers: boolean,
): Beginning & { answers: boolean } {
  const [lat, lon] = ["lat", "lon"]
    .map((name) => given.get(name)?.trim() || Number.NaN)
    .map(Number);
  const zoom = Number(given.get("zoom")?.trim() || 12);
  const isPoint = Math.abs(lat!) <= 90 && Math.abs(lon!) <= 180;
  const city = services.cities.find(given.get("city") ?? "");
  const place = isPoint
    ? { lat: lat!, lon: lon!, zoom, city: "" }
    : city === null
      ? answers
        ? null
        : { ...centerOf(services), city: "" }
      : { ...city, city: city.name };
  const fuel = parseGrade(given.get("fuel") ?? "") ?? null;
  const filters = {
    ...(fuel === null ? {} : { grades: [fuel] }),
    ...(fuel !== null || answers ? { statuses: ["yes", "low", "queue"] as const } : {}),
  };
  const now = services.clock();
  const stations =
    place === null
      ? []
      : nearestOf(services, {
          ...{ area: { kind: "circle", centre: place, radiusM }, filters, limit: earlyMax, now },
        });
  const isChoosing = place === null && given.get("here") !== "1";
  const { cities } = services.cities.list({ q: "", offset: 0, limit: isChoosing ? citiesMax : 0 });
  given.delete("here");
  return { answers, given, fuel, place, stations, cities: cities.map(({ name }) => name) };
}
