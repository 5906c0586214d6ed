import { hash } from "node:crypto";
import type { Page } from "#api/http/app.ts";
import { html, type Html } from "#api/pages/html.ts";
import { listStyle } from "#api/pages/list-style.ts";
import { type Language, pickLanguage, type Words, wordsOf } from "#api/pages/messages.ts";
import type { Services } from "#api/http/services.ts";
import type { City } from "#snapshots/cities.ts";
import type { FuelBlock } from "#src/domain/state.ts";
import { parseTime } from "#src/domain/time.ts";
import { grades, parseGrade, type ServedStatus, statuses } from "#src/domain/vocabulary.ts";
import { minuteMs } from "#src/domain/units.ts";

const shownMax = 100;
const foundMax = 4000;
const radiusM = 25_000;
const citiesMax = 200;
const styleHash = hash("sha256", listStyle, "base64");
// Not in a template that a formatter may lay out anew: the hash is of every character.
const style: Html = { html: "<style>" + listStyle + "</style>" };
const signs: Record<ServedStatus, string> = {
  yes: "●",
  low: "◐",
  no: "✕",
  queue: "≡",
  nodata: "○",
};

interface Listed {
  id: string;
  brand: string;
  name: string;
  addr: string;
  fuel: FuelBlock;
}

interface Choice {
  language: Language;
  words: Words;
  cities: City[];
  city: City;
  fuel: string;
  status: string;
}

/**
 * `/list`: the stations of a city as a plain list, for slow phones: one small page, no script, no map.
 * The same statuses as the API's, from the same read model.
 */
export const listPage =
  (services: Services): Page =>
  (ctx, next) => {
    if (ctx.state.path !== "/list" || !["GET", "HEAD"].includes(ctx.method)) return next();
    const asked = new URLSearchParams(ctx.state.search);
    const language = pickLanguage(asked.get("lang"), ctx.get("accept-language"));
    const words = wordsOf(language);
    const { cities } = services.cities.list({ q: "", offset: 0, limit: citiesMax });
    const city = services.cities.find(asked.get("city") ?? "") ?? cities[0];
    const fuel = parseGrade(asked.get("fuel") ?? "") ?? "";
    const status = [...statuses, "nodata"].find((one) => one === asked.get("status")) ?? "";
    const body =
      city === undefined
        ? html`<p class="found">${words.noCities}</p>`
        : cityList(services, { language, words, cities, city, fuel, status });
    return {
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Language": language,
        "Cache-Control": "no-cache",
        Vary: "Accept-Language",
        "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
        "Referrer-Policy": "no-referrer",
      },
      body: frame(language, words, body).html,
    };
  };

const frame = (language: Language, words: Words, body: Html): Html =>
  html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${words.title}</title>
        ${style}
      </head>
      <body>
        <main>
          <h1>${words.title}</h1>
          ${body}
          <footer>${words.attribution}</footer>
        </main>
      </body>
    </html> `;

function cityList(services: Services, choice: Choice): Html {
  const { words, city, fuel, status } = choice;
  const now = services.clock();
  const asked = {
    area: { kind: "circle", centre: city, radiusM },
    filters: {
      ...(fuel === "" ? {} : { grades: [parseGrade(fuel)!] }),
      ...(status === "" ? {} : { statuses: [status as ServedStatus] }),
    },
    now,
  } as const;
  const { count } = services.model.query({ ...asked, limit: foundMax });
  const nearest = services.model.query({ ...asked, sort: "distance", limit: shownMax });
  const stations = JSON.parse(
    `[${Buffer.concat(nearest.pieces().map(({ bytes }) => bytes)).toString("utf8")}]`,
  ) as Listed[];
  return html`${form(choice)}
    <p class="found" role="status">
      ${stations.length === 0 ? words.none : words.found(count, stations.length)}
    </p>
    <ul>
      ${stations.map((station) => item(station, words, now))}
    </ul>`;
}

const form = ({ language, words, cities, city, fuel, status }: Choice): Html =>
  html`<form method="get">
    <input type="hidden" name="lang" value="${language}" />
    <label
      >${words.city}<select name="city">
        ${[...new Set([city.name, ...cities.map((one) => one.name)])].map((name) => option(name, name, city.name))}
      </select></label
    >
    <label
      >${words.fuel}<select name="fuel">
        ${option("", words.anyFuel, fuel)}${grades.map((grade) => option(grade, grade, fuel))}
      </select></label
    >
    <label
      >${words.status}<select name="status">
        ${option("", words.anyStatus, status)}${([...statuses, "nodata"] as const).map((one) => option(one, words.statuses[one], status))}
      </select></label
    >
    <button>${words.show}</button>
  </form>`;

const option = (value: string, text: string, chosen: string): Html =>
  value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`;

function item({ brand, name, addr, fuel }: Listed, words: Words, now: number): Html {
  const updated = parseTime(fuel.updated);
  const age =
    updated === null || fuel.status === "nodata"
      ? null
      : words.ago(Math.floor((now - updated) / minuteMs));
  const facts = [
    fuel.fuels_now === "" ? null : `${words.available} ${fuel.fuels_now.replaceAll(",", ", ")}`,
    fuel.fuels_no === "" ? null : `${words.missing} ${fuel.fuels_no.replaceAll(",", ", ")}`,
    fuel.queue === "" ? null : words.queue(fuel.queue),
    fuel.limit_l === null ? null : words.limit(fuel.limit_l),
    fuel.no_cash ? words.noCash : null,
    fuel.fuel_cards_only ? words.cardsOnly : null,
  ].filter((fact) => fact !== null);
  const prices = (fuel.prices ?? "")
    .split(",")
    .filter((pair) => pair !== "")
    .map((pair) => html`<span class="price">${pair.replace("=", ": ")}</span> `);
  const basis = fuel.seeded
    ? words.imported
    : fuel.confirmations > 0
      ? words.confirmed(fuel.confirmations)
      : null;
  const doubt =
    fuel.conflict !== null
      ? words.conflict
      : fuel.pending_status === ""
        ? null
        : words.pending(words.statuses[fuel.pending_status].toLowerCase(), fuel.pending_count);
  return html`<li class="${fuel.status}">
    <div class="top">
      <h2>${name || brand || "—"}</h2>
      <span class="status"
        ><span aria-hidden="true">${signs[fuel.status]}</span> ${words.statuses[fuel.status]}</span
      >
    </div>
    ${addr === "" ? null : html`<p class="addr">${addr}</p>`}${facts.length === 0 ? null : html`<p>${facts.join(" · ")}</p>`}${prices.length === 0 ? null : html`<p>${prices}</p>`}${doubt === null ? null : html`<p class="flag">${doubt}</p>`}${age === null ? null : html`<p class="age">${[age, basis].filter((one) => one !== null).join(" · ")}</p>`}
  </li> `;
}
