import { hash } from "node:crypto";
import type { PageRouter } from "#api/http/state.ts";
import { html, type Html } from "#api/pages/html.ts";
import { listStyle } from "#api/pages/list-style.ts";
import { type Language, pickLanguage, type Messages, messagesOf } from "#api/pages/messages.ts";
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
  messages: Messages;
  cities: City[];
  city: City;
  fuel: string;
  status: string;
}

/**
 * `/list`: the stations of a city as a plain list, for slow phones: one small page, no script, no map.
 * The same statuses as the API's, from the same read model.
 */
export function listPage(router: PageRouter, services: Services): void {
  router.get("/list", (ctx) => {
    const asked = new URLSearchParams(ctx.querystring);
    const language = pickLanguage(asked.get("lang"), ctx.get("accept-language"));
    const messages = messagesOf(language);
    const { cities } = services.cities.list({ q: "", offset: 0, limit: citiesMax });
    const city = services.cities.find(asked.get("city") ?? "") ?? cities[0];
    const fuel = parseGrade(asked.get("fuel") ?? "") ?? "";
    const status = [...statuses, "nodata"].find((name) => name === asked.get("status")) ?? "";
    const content =
      city === undefined
        ? html`<p class="found">${messages.noCities}</p>`
        : cityList(services, { language, messages, cities, city, fuel, status });
    ctx.set({
      "Content-Type": "text/html; charset=utf-8",
      "Content-Language": language,
      "Cache-Control": "no-cache",
      Vary: "Accept-Language",
      "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
      "Referrer-Policy": "no-referrer",
    });
    ctx.body = frame(language, messages, content).html;
  });
}

const frame = (language: Language, messages: Messages, body: Html): Html =>
  html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${messages.title}</title>
        ${style}
      </head>
      <body>
        <main>
          <h1>${messages.title}</h1>
          ${body}
          <footer>${messages.attribution}</footer>
        </main>
      </body>
    </html> `;

function cityList(services: Services, choice: Choice): Html {
  const { messages, city, fuel, status } = choice;
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
      ${stations.length === 0 ? messages.none : messages.found(count, stations.length)}
    </p>
    <ul>
      ${stations.map((station) => item(station, messages, now))}
    </ul>`;
}

const form = ({ language, messages, cities, city, fuel, status }: Choice): Html =>
  html`<form method="get">
    <input type="hidden" name="lang" value="${language}" />
    <label
      >${messages.city}<select name="city">
        ${[...new Set([city.name, ...cities.map((one) => one.name)])].map((name) => option(name, name, city.name))}
      </select></label
    >
    <label
      >${messages.fuel}<select name="fuel">
        ${option("", messages.anyFuel, fuel)}${grades.map((grade) => option(grade, grade, fuel))}
      </select></label
    >
    <label
      >${messages.status}<select name="status">
        ${option("", messages.anyStatus, status)}${([...statuses, "nodata"] as const).map((one) => option(one, messages.statuses[one], status))}
      </select></label
    >
    <button>${messages.show}</button>
  </form>`;

const option = (value: string, text: string, chosen: string): Html =>
  value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`;

function item({ brand, name, addr, fuel }: Listed, messages: Messages, now: number): Html {
  const updated = parseTime(fuel.updated);
  const age =
    updated === null || fuel.status === "nodata"
      ? null
      : messages.ago(Math.floor((now - updated) / minuteMs));
  const facts = [
    fuel.fuels_now === "" ? null : `${messages.available} ${fuel.fuels_now.replaceAll(",", ", ")}`,
    fuel.fuels_no === "" ? null : `${messages.missing} ${fuel.fuels_no.replaceAll(",", ", ")}`,
    fuel.queue === "" ? null : messages.queue(fuel.queue),
    fuel.limit_l === null ? null : messages.limit(fuel.limit_l),
    fuel.no_cash ? messages.noCash : null,
    fuel.fuel_cards_only ? messages.cardsOnly : null,
  ].filter((fact) => fact !== null);
  const prices = (fuel.prices ?? "")
    .split(",")
    .filter((pair) => pair !== "")
    .map((pair) => html`<span class="price">${pair.replace("=", ": ")}</span> `);
  const basis = fuel.seeded
    ? messages.imported
    : fuel.confirmations > 0
      ? messages.confirmed(fuel.confirmations)
      : null;
  const doubt =
    fuel.conflict !== null
      ? messages.conflict
      : fuel.pending_status === ""
        ? null
        : messages.pending(
            messages.statuses[fuel.pending_status].toLowerCase(),
            fuel.pending_count,
          );
  return html`<li class="${fuel.status}">
    <div class="top">
      <h2>${name || brand || "—"}</h2>
      <span class="status"
        ><span aria-hidden="true">${signs[fuel.status]}</span>
        ${messages.statuses[fuel.status]}</span
      >
    </div>
    ${addr === "" ? null : html`<p class="addr">${addr}</p>`}${facts.length === 0 ? null : html`<p>${facts.join(" · ")}</p>`}${prices.length === 0 ? null : html`<p>${prices}</p>`}${doubt === null ? null : html`<p class="flag">${doubt}</p>`}${age === null ? null : html`<p class="age">${[age, basis].filter((one) => one !== null).join(" · ")}</p>`}
  </li> `;
}
