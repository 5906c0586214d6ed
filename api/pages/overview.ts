import type { PageDeps } from "#api/pages/deps.ts";
import type { PageRouter } from "#api/http/route.ts";
import { html, type Html, sendPlainPage } from "#api/pages/html.ts";
import { judgeWidgetKey } from "#api/pages/maps.ts";
import { languageOf, languageVary, type Language } from "#api/pages/messages.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import { daySection, tiles } from "#api/pages/overview-place.ts";
import {
  type Choice,
  citiesTable,
  linkTo,
  measures,
  periods,
  sorts,
} from "#api/pages/overview-table.ts";
import { numberText } from "#api/pages/overview-charts.ts";
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
  const isFramed = given.get("embed") === "1";
  return {
    language,
    lang: given.get("lang") ? language : "",
    ...{ days, of },
    sort: sorts.find((one) => one === given.get("sort")) ?? "size",
    isUp: given.get("order") === "asc",
    page: Number(/^[1-9]\d{0,2}$/.exec(given.get("page") ?? "")?.[0] ?? 1),
    city: (given.get("city") ?? "").trim().slice(0, nameMax),
    embed: isFramed,
    key: (isFramed && given.get("key")?.trim()) || "",
  };
}

/** The country, or the city of that id. */
function place(choice: Choice, latest: Insights, id: string | undefined): Html[] {
  const messages = overviewMessages(choice.language);
  const figures: Figures =
    id === undefined ? figuresOfCountry(latest, choice.days) : figuresOf(latest, id, choice.days);
  const known = figures.stations - figures.statuses.nodata;
  const [stations, withData] = [figures.stations, known].map((one) =>
    numberText(one, choice.language),
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

/** No script, no images, no fonts: readable at 320 px, light, dark and on paper. */
const overviewCss = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #56606b; --page: #f4f6f8; --card: #fff; --line: #dde3e8; --bar: #b3261e; --track: #e8ecf0; --accent: #0b5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf0; --soft: #a3aeb8; --page: #12161a; --card: #1c2228; --line: #323b44; --bar: #ff8a80; --track: #2b333b; --accent: #7ab7f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 16px 40px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 26px 0 10px; }
p { margin: 0 0 8px; max-width: 46rem; } .soft, footer { color: var(--soft); font-size: .9rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 10px; padding: 0; margin: 0; }
.tiles li { list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
.tiles b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.tiles span { display: block; color: var(--soft); font-size: .88rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
.bar { display: block; width: 100%; height: 6px; margin-top: 4px; border-radius: 3px; fill: var(--bar); forced-color-adjust: none; } .bar .track { fill: var(--track); }
.chart { display: block; width: 100%; height: auto; fill: var(--bar); forced-color-adjust: none; }
.chart text { fill: var(--soft); font-size: 12px; } .chart line { stroke: var(--line); }
.spark { display: block; width: 110px; height: 24px; fill: none; stroke: var(--bar); stroke-width: 3; forced-color-adjust: none; } .spark .track { stroke: var(--line); stroke-width: 1; }
nav, .links { display: flex; flex-wrap: wrap; gap: 4px 16px; } nav a, nav b, .links a { padding: 10px 0; }
details { margin-top: 10px; } summary { cursor: pointer; padding: 10px 0; color: var(--accent); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; position: relative; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .95rem; }
th, td { padding: 8px; text-align: right; border-top: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
thead th { border-top: 0; font-weight: 600; vertical-align: bottom; white-space: normal; } thead a { display: inline-block; padding: 8px 0; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 8.5rem; overflow-wrap: break-word; hyphens: auto; }
tbody th { font-weight: 600; position: sticky; left: 0; background: var(--card); } thead th:first-child { position: sticky; left: 0; background: var(--card); }
td small { display: block; color: var(--soft); } th small { display: block; color: var(--soft); font-weight: 400; }
td .bar { min-width: 44px; }
footer { margin-top: 24px; }
@media (max-width: 480px) { .tiles { grid-template-columns: 1fr 1fr; } h1 { font-size: 1.35rem; } th:first-child, td:first-child { min-width: 8rem; } table { font-size: .88rem; } .chart text { font-size: 21px; } }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #333; --page: #fff; --card: #fff; --line: #aaa; --bar: #555; --track: #eee; --accent: #000; }
  * { print-color-adjust: exact; } body { font-size: 10pt; } main { max-width: none; padding: 0; } a { text-decoration: none; }
  nav, .links, summary, .more { display: none; } .scroll { overflow: visible; border: 0; } th, td { padding: 3px 6px; } tbody th, thead th:first-child { position: static; }
  tr, .tiles li, .card { break-inside: avoid; } thead { display: table-header-group; } .tiles { grid-template-columns: repeat(6, 1fr); } .tiles b { font-size: 1.2rem; }
}
`;
