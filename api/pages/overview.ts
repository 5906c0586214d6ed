import type { PageDeps } from "#api/pages/deps.ts";
import type { PageRouter } from "#api/http/route.ts";
import { html, type Html, sendPlainPage } from "#api/pages/html.ts";
import { judgeWidgetKey } from "#api/pages/maps.ts";
import { languageOf, languageVary, type Language } from "#api/pages/messages.ts";
import { overviewCss } from "#api/pages/overview-css.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import { daySection, tiles } from "#api/pages/overview-place.ts";
import { type Choice, citiesTable, linkTo, measures, periods, sorts } from "#api/pages/overview-table.ts";
import { wholeNumber } from "#api/pages/overview-charts.ts";
import { creditLine } from "#api/pages/station-text.ts";
import { refuseWidget } from "#api/pages/widget-refusal.ts";
import { type Figures, figuresOf, figuresOfCountry } from "#snapshots/insights/figures.ts";
import type { Insights } from "#snapshots/insights/insight-store.ts";
import { frameAncestors, isAllowedPage } from "#src/contract/hosts.ts";
import { formatTime } from "#src/domain/time.ts";

const nameMax = 120;

/**
 * `/overview`: how many stations of each city lack fuel, now and by day (decisions 15.32). HTML without script.
 * With `embed=1` and a publishable key, pages of the key's domains may frame it.
 */
export function overviewPage(router: PageRouter, services: PageDeps): void {
  const { keys, config, insights } = services;

  /** The sources that may frame the page; or why it may not be framed. */
  const framers = async (choice: Choice, referer: string) => {
    if (!choice.embed) return [];
    const key = await judgeWidgetKey(keys, choice.key);
    if (typeof key === "string") return key;
    const isAllowed = isAllowedPage({ referer }, key.domains, config.baseUrl);
    return isAllowed ? frameAncestors(key.domains) : ("domain-not-allowed" as const);
  };

  router.get("/overview", async (ctx) => {
    const choice = readChoice(new URLSearchParams(ctx.querystring), languageOf(ctx));
    const ancestors = await framers(choice, ctx.get("referer")).catch(() => "unavailable" as const);
    if (typeof ancestors === "string") {
      refuseWidget(ctx, ancestors);
      return;
    }
    const { language } = choice;
    const latest = await insights.get();
    const wanted = services.cities.find(choice.city)?.name ?? choice.city;
    const city = latest?.cities.find(({ name }) => name === wanted);
    const messages = overviewMessages(language);
    const title = city === undefined ? messages.title : messages.titleOf(city.name);
    ctx.set({ "Cache-Control": "no-cache", Vary: `${languageVary}, Referer` });
    const main =
      latest === null
        ? [html`<p role="status">${messages.notYet}</p>`]
        : place({ ...choice, city: city?.name ?? "" }, latest, city?.id);
    const isUnknown = latest !== null && city === undefined && wanted !== "";
    const notice = html`<p role="alert">${messages.cityUnknown(wanted)}</p>`;
    sendPlainPage(ctx, {
      ...{ language, title, css: overviewCss, policy: "form-action 'none'" },
      parts: [...(isUnknown ? [notice] : []), ...main, foot(services, choice, latest)],
      ...(ancestors.length > 0 ? { ancestors } : {}),
    });
  });
}

function readChoice(given: URLSearchParams, language: Language): Choice {
  const days = periods.find((one) => String(one) === given.get("days")) ?? 30;
  const of = measures.find((one) => one === given.get("of")) ?? "no";
  return {
    language,
    lang: given.get("lang") ?? "",
    ...{ days, of },
    sort: sorts.find((one) => one === given.get("sort")) ?? "size",
    isUp: given.get("order") === "asc",
    all: given.get("all") === "1",
    city: (given.get("city") ?? "").trim().slice(0, nameMax),
    embed: given.get("embed") === "1",
    key: given.get("key")?.trim() ?? "",
  };
}

/** The country, or the city of that id. */
function place(choice: Choice, latest: Insights, id: string | undefined): Html[] {
  const messages = overviewMessages(choice.language);
  const figures: Figures =
    id === undefined ? figuresOfCountry(latest, choice.days) : figuresOf(latest, id, choice.days);
  const known = figures.stations - figures.statuses.nodata;
  const [stations, withData] = [figures.stations, known].map((one) =>
    wholeNumber(one, choice.language),
  );
  return [
    html`<p class="soft">${messages.lead(stations!, withData!)}</p>`,
    id === undefined
      ? html``
      : html`<p class="links">
          <a href="${linkTo(choice, { city: "" })}">${messages.country}</a>
        </p>`,
    tiles(figures, choice),
    daySection(figures, choice),
    id === undefined ? citiesTable(latest, choice) : html``,
  ];
}

function foot(services: PageDeps, choice: Choice, latest: Insights | null): Html {
  const messages = overviewMessages(choice.language);
  const lang = choice.lang === "" ? "" : `?lang=${choice.language}`;
  const links = html`<p class="links">
    <a href="./${lang}">${messages.map}</a> <a href="list${lang}">${messages.list}</a>
  </p>`;
  return html`<footer>
    ${latest === null ? null : html`<p>${messages.asOf(formatTime(latest.asOfMs))} ${messages.elsewhere}</p>`}
    ${choice.embed ? null : links} ${creditLine(services, choice.language)}
  </footer>`;
}
