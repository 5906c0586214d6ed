import type { PageDeps } from "#api/pages/deps.ts";
import type { PageRouter } from "#api/http/route.ts";
import { html, type Html, sendPlainPage } from "#api/pages/html.ts";
import { languageOf, languageVary, type Language } from "#api/pages/messages.ts";
import { dayBars, faultTable } from "#api/pages/status/days.ts";
import { incidentLists } from "#api/pages/status/incidents.ts";
import { statusJson } from "#api/pages/status/json.ts";
import { statusCss } from "#api/pages/status/css.ts";
import { statusMessages } from "#api/pages/status/messages.ts";
import type { ServiceState } from "#api/pages/status/watch.ts";
import type { FeedReport, FeedState } from "#src/domain/service-state.ts";
import { hourS } from "#src/domain/units.ts";
import { formatTime } from "#src/domain/time.ts";

/**
 * `/status` for people and `/status.json` for machines: how each feed is now, its last 90 days, and incidents. Both
 * read memory only, so they answer 200 whatever is away (decisions 16.32).
 */
export function statusPages(router: PageRouter, { service }: Pick<PageDeps, "service">): void {
  router.get("/status", (ctx) => {
    const language = languageOf(ctx);
    ctx.set({ "Cache-Control": "no-store", Vary: languageVary });
    sendPlainPage(ctx, {
      ...{ language, title: statusMessages(language).title, css: statusCss },
      ...{ policy: "form-action 'none'", parts: partsOf(service.now(), language) },
    });
  });
  router.get("/status.json", (ctx) => {
    ctx.set({ "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*" });
    ctx.body = statusJson(service.now());
  });
}

const signs: Record<FeedState, string> = { ok: "✓", degraded: "✕", unknown: "?" };

function partsOf(state: ServiceState, language: Language): Html[] {
  const messages = statusMessages(language);
  const { open, past } = incidentLists(state, language);
  return [
    html`<p class="sum ${state.state}" role="status">
      <span aria-hidden="true">${signs[state.state]}</span> ${messages.all[state.state]}
    </p>`,
    notice(state, language),
    open,
    html`<ul class="feeds">
      ${state.feeds.map((report) => feedItem(report, state, language))}
    </ul>`,
    faultTable(state, language),
    past,
    html`<footer>
      <p>${messages.asOf(formatTime(state.now))} ${messages.about}</p>
      <p class="links">
        <a href="status.json">${messages.json}</a> <a href="docs">${messages.docs}</a>
      </p>
    </footer>`,
  ];
}

/** A notice of the parts that are away, and of the age of the rest. */
function notice({ postgres, redis, readAt }: ServiceState, language: Language): Html {
  const messages = statusMessages(language);
  if (postgres && redis) return html``;
  const age = readAt === null ? messages.neverKnown : messages.lastKnown(formatTime(readAt));
  return html`<div class="card notice">
    ${postgres ? null : html`<p>${messages.noPostgres} ${age}</p>`}
    ${redis ? null : html`<p>${messages.noRedis}</p>`}
  </div>`;
}

const feedItem = (report: FeedReport, state: ServiceState, language: Language): Html => {
  const messages = statusMessages(language);
  return html`<li class="${report.state}">
    <div class="top">
      <h2>${messages.feeds[report.feed]}</h2>
      <span class="state"
        ><span aria-hidden="true">${signs[report.state]}</span>
        ${messages.states[report.state]}</span
      >
    </div>
    <p class="soft">${freshness(report, language)}</p>
    ${dayBars(state.days, report.feed, language)}
  </li>`;
};

function freshness({ feed, age_s: age }: FeedReport, language: Language): string {
  const messages = statusMessages(language);
  if (age === null) return "";
  if (feed === "marks" && age === 0) return messages.noneWaits;
  const text =
    age < 120
      ? messages.seconds(age)
      : age < 2 * hourS
        ? messages.minutes(Math.round(age / 60))
        : messages.hours(Math.round(age / hourS));
  return messages.fresh[feed](text);
}
