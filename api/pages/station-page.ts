import type { Context, PageRouter } from "#api/http/route.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import { cardCss, html, type Html, sendPlainPage } from "#api/pages/html.ts";
import { consumerKeyInForce, createMapPage } from "#api/pages/map-page.ts";
import { knownOf } from "#api/pages/maps.ts";
import { messagesOf, languageVary, type Language, pickLanguage } from "#api/pages/messages.ts";
import { shareTags } from "#api/pages/share-tags.ts";
import { creditLine, factsOf, type Listed, nameOf, stationOf } from "#api/pages/station-text.ts";

const stationZoom = 15;

/** `/s/<station id>`: the map with a station's card open, with tags for messengers (decisions 15.15). */
export function stationPage(router: PageRouter, services: PageDeps): void {
  const mapPage = createMapPage(services);
  router.get("/s/:id", async (ctx) => {
    const given = knownOf(ctx);
    const language = pickLanguage(given.get("lang"), ctx.get("accept-language"));
    const station = stationOf(services, ctx.params["id"] ?? "");
    const key = await consumerKeyInForce(services);
    if (station === null) {
      sendGone(services, ctx, language, key !== null);
      return;
    }
    const about = aboutStation(services, station, language);
    if (key === null) {
      ctx.set({ "Cache-Control": "no-cache", Vary: languageVary });
      sendPlainPage(ctx, { ...about, language, css: cardCss, policy, ...framed });
      return;
    }
    mapPage(ctx, {
      ...{ root: "../", key, language, frameAncestors: ["'self'"], station: station.id },
      ...{ tags: about.tags, stations: [station], answers: false, cities: [], fuel: null, given },
      place: { lat: station.lat, lon: station.lon, zoom: stationZoom, city: nameOf(station) },
    });
  });
}

/** A station's page without a map: no script, and the same facts. */
function aboutStation(services: PageDeps, station: Listed, language: Language) {
  const { config, clock, model } = services;
  const now = clock();
  const { status, facts, prices, doubt, age } = factsOf(station, language, now, model.hoursAt);
  const lines = [station.addr, facts, prices.join(" · "), doubt, age].filter(Boolean);
  const title = `${nameOf(station)}: ${status}`;
  const description = lines.join(". ");
  const path = `s/${encodeURIComponent(station.id)}`;
  const { baseUrl } = config;
  const shown = station.fuel.status;
  const parts = [...lines.map((line) => html`<p>${line}</p>`), foot(services, language)];
  return { title, parts, tags: shareTags({ title, description, path, baseUrl, shown, language }) };
}

function foot(services: PageDeps, language: Language): Html {
  const { wholeList } = messagesOf(language);
  return html`<p><a href="../list?lang=${language}">${wholeList}</a></p>
    ${creditLine(services, language)}`;
}

function sendGone(services: PageDeps, ctx: Context, language: Language, hasMap: boolean): void {
  ctx.status = 404;
  ctx.set({ "Cache-Control": "no-cache", Vary: languageVary });
  const { stationGone: title, toMap } = messagesOf(language);
  const map = html`<p><a class="main" href="../?lang=${language}">${toMap}</a></p>`;
  const parts = [hasMap ? map : html``, foot(services, language)];
  sendPlainPage(ctx, { title, language, css: cardCss, policy, ...framed, parts });
}

const policy = "form-action 'none'";
/** The console shows it beside a station's facts (decisions 13.18). */
const framed = { ancestors: ["'self'"] };
