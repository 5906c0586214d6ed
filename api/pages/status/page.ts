import type { PageDeps } from "#api/pages/deps.ts";
import type { PageRouter } from "#api/http/route.ts";
import { html, type Html, sendPlainPage } from "#api/pages/html.ts";
import { languageOf, languageVary, type Language } from "#api/pages/messages.ts";
import { dayBars, faultTable } from "#api/pages/status/days.ts";
import { incidentLists } from "#api/pages/status/incidents.ts";
import { statusMessages } from "#api/pages/status/messages.ts";
import type { ServiceState } from "#api/pages/status/watch.ts";
import type { FeedReport, FeedState } from "#src/domain/service-state.ts";
import { hourS } from "#src/domain/units.ts";
import { formatTime, formatDay } from "#src/domain/time.ts";

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

/** The body of `/status.json`. Times are UTC in the served form; `days` begin with the oldest. */
const statusJson = (state: ServiceState): object => ({
  as_of: formatTime(state.now),
  state: state.state,
  reachable: { postgres: state.postgres, redis: state.redis },
  feeds: state.feeds,
  /** Time of the last reading of days and incidents. */
  known_at: timeOf(state.readAt),
  days: state.days.map(({ at, feeds }) => ({
    day: formatDay(at),
    minutes: feeds,
  })),
  incidents: state.incidents.map(({ opened, closed, updates, ...incident }) => ({
    ...incident,
    opened: formatTime(opened),
    closed: timeOf(closed),
    updates: updates.map(({ at, text }) => ({ at: formatTime(at), text })),
  })),
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : formatTime(ms));

/** No script, no images, no fonts: readable at 320 px, light, dark and on paper. */
const statusCss = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #56606b; --page: #f4f6f8; --card: #fff; --line: #dde3e8; --ok: #1a7f4b; --some: #9a6700; --bad: #b3261e; --none: #c3ccd4; --accent: #0b5fae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf0; --soft: #a3aeb8; --page: #12161a; --card: #1c2228; --line: #323b44; --ok: #4cc38a; --some: #e2b203; --bad: #ff8a80; --none: #46515c; --accent: #7ab7f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 820px; margin: 0 auto; padding: 20px 16px 40px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 12px; }
h2 { font-size: 1.15rem; margin: 26px 0 10px; } h3, .top h2 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
p { margin: 0 0 6px; overflow-wrap: anywhere; } .soft, footer, time { color: var(--soft); font-size: .9rem; }
a { color: var(--accent); } :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.sum, .card, .feeds li { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 12px 14px; }
.sum { border-left: 6px solid var(--none); font-size: 1.15rem; font-weight: 600; margin: 0 0 10px; }
.sum.ok { border-left-color: var(--ok); } .sum.degraded { border-left-color: var(--bad); }
.notice { border-left: 6px solid var(--some); margin-bottom: 10px; }
.feeds, .incidents { list-style: none; margin: 0 0 16px; padding: 0; display: grid; gap: 10px; }
.top { display: flex; justify-content: space-between; gap: 12px; align-items: baseline; }
.state { font-weight: 700; white-space: nowrap; color: var(--soft); } .ok .state { color: var(--ok); } .degraded .state { color: var(--bad); }
.days { display: block; width: 100%; height: 34px; margin-top: 8px; forced-color-adjust: none; }
.days .ok { fill: var(--ok); } .days .some { fill: var(--some); } .days .bad { fill: var(--bad); } .days .none { fill: var(--none); }
.ends { display: flex; justify-content: space-between; gap: 8px; color: var(--soft); font-size: .8rem; }
.incidents > li.degraded { border-left: 6px solid var(--bad); }
.incidents ol { list-style: none; margin: 8px 0 0; padding: 0; display: grid; gap: 8px; } .incidents time { display: block; }
details { margin-top: 14px; } summary { cursor: pointer; padding: 10px 0; color: var(--accent); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: 8px; text-align: right; border-top: 1px solid var(--line); vertical-align: bottom; } td { white-space: nowrap; }
thead th { border-top: 0; } th:first-child { text-align: left; white-space: nowrap; }
footer { margin-top: 24px; } .links { display: flex; flex-wrap: wrap; gap: 4px 16px; } .links a { padding: 10px 0; }
@media (max-width: 480px) { h1 { font-size: 1.35rem; } .days { height: 28px; } }
@media print { details { display: none; } body { background: #fff; } }
`;
