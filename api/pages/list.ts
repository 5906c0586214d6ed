import type { PageRouter } from "#api/http/route.ts";
import { html, type Html, sendPlainPage } from "#api/pages/html.ts";
import {
  type Messages,
  messagesOf,
  languageOf,
  languageVary,
  type Language,
} from "#api/pages/messages.ts";
import { overviewMessages } from "#api/pages/overview-messages.ts";
import type { PageDeps } from "#api/pages/deps.ts";
import {
  creditLine,
  factsOf,
  type Listed,
  nameOf,
  nearestOf,
  routeTo,
} from "#api/pages/station-text.ts";
import type { City } from "#snapshots/cities.ts";
import type { Filters } from "#snapshots/model/filters.ts";
import { cityName } from "#src/contract/city-name.ts";
import { chanceText, statusSigns } from "#src/contract/driver-texts.ts";
import { likelyFrom, shownChance } from "#src/domain/grade-answer.ts";
import { grades, parseGrade, statuses } from "#src/domain/vocabulary.ts";

const perPage = 100;
const foundMax = 4000;
const radiusM = 25_000;
const citiesMax = 200;
const nameMax = 120;

/** `fuel`: any status that means fuel; it is what people come for. `likely`: by the chance, whatever the status. */
const wanted = ["fuel", "likely", "any", ...statuses, "nodata"] as const;
type Wanted = (typeof wanted)[number];

interface Choice extends Pick<PageDeps, "model"> {
  language: Language;
  messages: Messages;
  cities: City[];
  city: City;
  /** The name that was asked for, when no city has it; else "". */
  unknown: string;
  fuel: string;
  status: Wanted;
  /** From 1. */
  page: number;
  userAgent: string;
}

/**
 * `/list`: the stations of a city as a plain list, for slow phones: one small page, no script, no map.
 * The same statuses as the API's, from the same read model.
 */
export function listPage(router: PageRouter, services: PageDeps): void {
  router.get("/list", (ctx) => {
    const search = new URLSearchParams(ctx.querystring);
    const language = languageOf(ctx);
    const messages = messagesOf(language);
    const { cities } = services.cities.list({ q: "", offset: 0, limit: citiesMax });
    const name = (search.get("city") ?? "").trim().slice(0, nameMax);
    const known = services.cities.find(name);
    const city = known ?? cities[0];
    const unknown = known === null ? name : "";
    const fuel = parseGrade(search.get("fuel") ?? "") ?? "";
    const status = wanted.find((one) => one === search.get("status")) ?? "fuel";
    const page = Number(/^[1-9]\d?$/.exec(search.get("page") ?? "")?.[0] ?? 1);
    const main =
      city === undefined
        ? html`<p class="found">
            ${messages.noCities} <a href="./?lang=${language}">${messages.toMap}</a>
          </p>`
        : cityList(services, {
            ...{ language, messages, cities, city, unknown, fuel, status, page },
            ...{ userAgent: ctx.get("user-agent"), model: services.model },
          });
    ctx.set({ "Cache-Control": "no-cache", Vary: `${languageVary}, User-Agent` });
    const policy = "form-action 'self'";
    const about = `overview?lang=${language}`;
    const foot = html`<footer>
      <p><a href="${about}">${overviewMessages(language).title}</a></p>
      ${creditLine(services, language)}
    </footer>`;
    sendPlainPage(ctx, { language, title: messages.title, css, policy, parts: [main, foot] });
  });
}

function cityList(services: PageDeps, choice: Choice): Html {
  const { language, messages, city, unknown, fuel, status, page } = choice;
  const now = services.clock();
  const selection = {
    area: { kind: "circle", centre: city, radiusM },
    filters: {
      ...(fuel === "" ? {} : { grades: [parseGrade(fuel)!] }),
      ...filtersOf(status),
    },
    now,
  } as const;
  const asked = { ...selection, limit: foundMax };
  const { count } = services.model.query(asked);
  // As on the map, of those that may have it.
  const may = { ...asked, filters: { mayHave: parseGrade(fuel)! } };
  const of = fuel === "" ? count : services.model.query(may).count;
  const first = (page - 1) * perPage;
  const stations = nearestOf(services, { ...selection, limit: first + perPage }).slice(first);
  const found = [
    fuel === "" || status !== "fuel" ? "" : messages.have(count, of, fuel),
    stations.length < count || fuel === "" || status !== "fuel"
      ? messages.found(count, first + 1, first + stations.length)
      : "",
  ]
    .filter(Boolean)
    .join(". ");
  const at = (to: number, text: string): Html | null => {
    const query = { lang: language, city: city.name, fuel, status, page: String(to) };
    return to < 1 || (to > page && first + stations.length >= count)
      ? null
      : html`<a class="page" href="?${new URLSearchParams(query).toString()}">${text}</a> `;
  };
  return html`${form(choice)}
    ${unknown === "" ? null : html`<p class="found" role="alert">${messages.cityUnknown(unknown, city.name)}</p>`}
    <p class="found" role="status">${stations.length === 0 ? messages.none : found}</p>
    <ul>
      ${stations.map((station) => item(station, choice, now))}
    </ul>
    <p>${at(page - 1, messages.before)}${at(page + 1, messages.next)}</p>`;
}

function filtersOf(status: Wanted): Pick<Filters, "statuses" | "chanceMin"> {
  if (status === "any") return {};
  if (status === "likely") return { chanceMin: likelyFrom };
  return { statuses: status === "fuel" ? ["yes", "low", "queue"] : [status] };
}

const form = ({ language, messages, cities, city, fuel, status }: Choice): Html =>
  html`<form method="get">
    <input type="hidden" name="lang" value="${language}" />
    <label
      >${messages.city}<select name="city">
        ${[...new Set([city.name, ...cities.map(({ name }) => name)])].map((name) => option(name, cityName(language, name), city.name))}
      </select></label
    >
    <label
      >${messages.fuel}<select name="fuel">
        ${option("", messages.anyFuel, fuel)}${grades.map((grade) => option(grade, messages.gradeName(grade), fuel))}
      </select></label
    >
    <label
      >${messages.status}<select name="status">
        ${option("fuel", messages.hasFuel, status)}${option("likely", messages.isLikely, status)}${option("any", messages.anyStatus, status)}${([...statuses, "nodata"] as const).map((name) => option(name, messages.statuses[name], status))}
      </select></label
    >
    <button>${messages.show}</button>
  </form>`;

const option = (value: string, text: string, chosen: string): Html =>
  value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`;

function item(station: Listed, choice: Choice, now: number): Html {
  const { language, messages, fuel: grade, userAgent, model } = choice;
  const chance = shownChance(station, grade === "" ? null : parseGrade(grade)!, now);
  const chances =
    chance === null
      ? ""
      : chanceText(language, chance, grade === "" ? null : messages.gradeName(grade));
  const { status, facts, prices, doubt, age } = factsOf(station, language, now, model.hoursAt);
  const { id, addr, fuel } = station;
  return html`<li class="${fuel.status}">
    <div class="top">
      <h2><a href="s/${encodeURIComponent(id)}">${nameOf(station)}</a></h2>
      <span class="status"
        ><span aria-hidden="true">${statusSigns[fuel.status]}</span> ${status}</span
      >
    </div>
    ${line("addr", addr)}${line("", facts)}${line("price", prices.join(" · "))}${line("flag", doubt)}${line("", chances)}${line("age", age)}
    ${routeTo(station, language, userAgent)}
  </li> `;
}

const line = (name: string, text: string): Html | null =>
  text === "" ? null : html`<p class="${name}">${text}</p>`;

/** No images, no fonts, readable at 320 px, light and dark. */
const css = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6570; --page: #f4f6f8; --card: #fff; --line: #dde3e8;
  --yes: #1a7f4b; --low: #9a6700; --no: #b3261e; --queue: #7a3fc2; --nodata: #6b7680; --accent: #0b5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf0; --soft: #a3aeb8; --page: #12161a; --card: #1c2228; --line: #323b44;
  --yes: #4cc38a; --low: #e2b203; --no: #ff8a80; --queue: #c3a6ff; --nodata: #9aa6b1; --accent: #7ab7f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 760px; margin: 0 auto; padding: 20px 16px 40px; }
h1 { font-size: 1.6rem; margin: 0 0 14px; }
form { display: flex; flex-wrap: wrap; gap: 10px; align-items: end; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px; }
label { display: grid; gap: 3px; font-size: .8rem; color: var(--soft); flex: 1 1 130px; }
select, button { font: inherit; min-height: 44px; border-radius: 8px; border: 1px solid var(--line); padding: 0 10px; background: var(--page); color: var(--ink); width: 100%; }
button { flex: 1 1 100px; width: auto; background: var(--accent); color: var(--page); border-color: var(--accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.found { color: var(--soft); margin: 14px 2px; }
ul { list-style: none; margin: 0; padding: 0; display: grid; gap: 8px; }
li { background: var(--card); border: 1px solid var(--line); border-left: 6px solid var(--nodata); border-radius: 10px; padding: 10px 12px; }
li.yes { border-left-color: var(--yes); } li.low { border-left-color: var(--low); } li.no { border-left-color: var(--no); } li.queue { border-left-color: var(--queue); }
.top { display: flex; justify-content: space-between; gap: 12px; align-items: baseline; flex-wrap: wrap; }
h2 { font-size: 1.05rem; margin: 0; overflow-wrap: anywhere; }
.status { font-weight: 700; white-space: nowrap; }
.yes .status { color: var(--yes); } .low .status { color: var(--low); } .no .status { color: var(--no); } .queue .status { color: var(--queue); } .nodata .status { color: var(--nodata); }
p { margin: 3px 0 0; overflow-wrap: anywhere; } .addr, .age { color: var(--soft); font-size: .88rem; }
.price { font-variant-numeric: tabular-nums; }
h2 a { color: inherit; }
.route, .page { display: inline-block; padding: 8px 0; }
.page { padding: 12px 16px 12px 0; }
.flag { color: var(--low); font-size: .9rem; }
footer { margin-top: 24px; color: var(--soft); font-size: .8rem; }
a { color: var(--accent); }
`;
