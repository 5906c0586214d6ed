import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import { headersForPage } from "#api/http/cors.ts";
import type { Check } from "#api/http/register-routes.ts";
import { Refused, refused } from "#api/http/errors.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import type { ApiContext, Route, Context } from "#api/http/route.ts";
import { asksDryRun } from "#src/contract/report.ts";
import { isAllowedPage } from "#src/contract/hosts.ts";
import { refuse, type Refusal, type ProblemCode } from "#src/contract/refusals.ts";
import { addressSet, viewerNetwork } from "#src/infrastructure/addresses.ts";
import { perObject } from "#src/infrastructure/lists.ts";
import { canaryKey, isCanary } from "#src/keys/canary-key.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";
import type { QuotaDecision } from "#src/limits/limiter.ts";
import { hourS } from "#src/domain/units.ts";
import type { Metered } from "#src/limits/meter.ts";
import { usageField } from "#src/limits/usage-fields.ts";

/** This list is the order of checks of decisions 3, for every request below the API's base. */
export const apiChecks = (services: HttpDeps): Check<Route>[] => [
  authenticate(services),
  authorize(services),
  count(services),
  loaded(services),
  encoded,
];

const bearer = /^bearer +([\w]+) *$/i;

/**
 * 401 unless the request carries a key that is in force (docs/contract.md 5); 503 while that is not known
 * (decisions 21.17).
 */
function authenticate({ config, clock, keys, meter }: HttpDeps): Check<Route> {
  /** Lets the page of a known key read every answer, also that the key has ended or cannot be asked about. */
  const openToPage = ({ headers, state }: Context, known: KeyInfo | null | undefined): void => {
    const { origin } = headers;
    if (origin !== undefined && known) state.forPage = headersForPage(known, origin);
  };
  const enter = (ctx: Context, text: string, key: KeyInfo | null): void => {
    const { state } = ctx;
    openToPage(ctx, key ?? keys.ended(text));
    if (key === null) throw new Refused(invalidKey);
    state.key = key;
  };
  return (ctx, routePath) => {
    const text = bearer.exec(ctx.headers.authorization ?? "")?.[1] ?? "";
    const isRead = ctx.method === "GET" && canaryPaths.test(routePath?.template ?? "");
    if (isRead && isCanary(config, text, clock())) {
      ctx.state.key = canaryKey;
      ctx.state.limits = meter.anonymous(viewerNetwork(ctx.state.ip));
      return;
    }
    const key = text === "" ? null : keys.known(text);
    const isOutdated = key !== null && keys.outdated();
    if (key && !isOutdated) return enter(ctx, text, key);
    // Before the look-up, which may fail: every answer carries limits.
    ctx.state.limits = meter.anonymous(viewerNetwork(ctx.state.ip));
    if (isOutdated) {
      openToPage(ctx, key);
      throw new Refused(outdatedKeys);
    }
    if (key === null) return enter(ctx, text, null);
    return keys.find(text).then((found) => enter(ctx, text, found));
  };
}

/** What the canary reads, and nothing else. */
const canaryPaths = /^\/stations\/(all|delta)(\.\w+)?$/;

const invalidKey = refuse("invalid-key", undefined, {
  headers: { "WWW-Authenticate": "Bearer" },
});

const outdatedKeys: Refusal = refuse(
  "upstream-unavailable",
  "This process cannot tell at present which keys are in force. Try again in a few seconds.",
  { retryAfterS: 5 },
);

/**
 * The 403s of a valid key, in the order of decisions 3: the partner's switch, the key's bindings, its kind.
 * They are not counted and carry the partner's limits.
 */
function authorize(services: HttpDeps): Check<Route> {
  const { config, meter } = services;
  const boundTo = perObject(({ ips }: KeyInfo) => addressSet(ips));

  const isBoundAddress = (key: KeyInfo, ip: string): boolean => {
    if (!key.partner.bindIps || key.ips.length === 0) return true;
    return boundTo(key).has(ip);
  };

  const refusalOf = (
    ctx: Context,
    key: KeyInfo,
    open: boolean,
    route: Route | undefined,
  ): Refusal | null => {
    const { headers, state } = ctx;
    if (!key.partner.enabled) return refuse("partner-disabled");
    if (key.kind === "secret") {
      if (isBoundAddress(key, state.ip)) return null;
      return refuse(
        "ip-not-allowed",
        `This key is bound to other addresses than ${state.ip}. Call from one of them, or ask the operator to add this one.`,
      );
    }
    const { origin, referer } = headers;
    if (!isAllowedPage({ origin, referer }, key.domains, config.baseUrl)) return domainNotAllowed;
    if (!open) return refuse("secret-key-required");
    if (asksForSecrets(ctx, route)) return secretParameters;
    const isDryRun = route?.answers?.takes?.includes("X-Dry-Run") && asksDryRun(headers);
    return isDryRun ? secretDryRuns : null;
  };

  return (ctx, routePath, route) => {
    const { state } = ctx;
    const key = state.key as KeyInfo;
    const open = routePath?.routes.some(({ access }) => access === "any") === true;
    const refusal = refusalOf(ctx, key, open, route);
    if (refusal === null) return undefined;
    return meter.peek(meteredOf(services, key, state.ip)).then((limits) => {
      state.limits = limits;
      throw new Refused(refusal);
    });
  };
}

const domainNotAllowed = refuse(
  "domain-not-allowed",
  "This key is bound to other domains than the calling page's. Ask the operator to add it; subdomains come along.",
);
const secretParameters = refuse(
  "secret-key-required",
  "lat, lon and ids work with a secret key (svc_live_…) only. A publishable key reads areas by bbox or city.",
);

/** The query may have other faults: 403 comes before them. */
function asksForSecrets({ state, querystring }: Context, route: Route | undefined): boolean {
  const { secretParameters: names = [] } = route ?? {};
  if (names.length === 0) return false;
  if (state.query !== undefined) return names.some((name) => name in (state.query as object));
  const given = new URLSearchParams(querystring);
  return names.some((name) => given.has(name));
}

const secretDryRuns = refuse(
  "secret-key-required",
  "X-Dry-Run works with a secret key (svc_live_…) only: a verdict would tell a forger what he still needs.",
);

/**
 * Counts the request against minute and day; 429 when one of them is used up (docs/contract.md 8). The same call looks
 * for the answer in the cache.
 */
function count(services: HttpDeps): Check<Route> {
  return async (ctx, _place, route) => {
    const { state } = ctx;
    if (state.key === canaryKey) return;
    const metered = meteredOf(services, state.key as KeyInfo, state.ip);
    const isShared = route?.lookUp !== undefined && state.query !== undefined;
    const request = isShared ? route.lookUp!(ctx as ApiContext) : null;
    state.request = request;
    const question = request?.question ?? null;
    const quota = await services.meter.take(metered, usageLabel(ctx), question);
    state.limits = quota;
    if (!quota.granted) throw limited(quota);
    state.quota = quota;
  };
}

function limited({ hit, limit, dailyLimit, retryAfterS }: QuotaDecision): Refused {
  if (hit === "minute")
    return refused(
      "rate-limit-exceeded",
      `${limit} requests a minute are used up. Wait Retry-After seconds.`,
      { retryAfterS, limit, window: "60s" },
    );
  return refused(
    "daily-quota-exceeded",
    `${dailyLimit} requests a day are used up until 00:00 UTC.`,
    { retryAfterS, limit: dailyLimit, window: "86400s" },
  );
}

const patienceMs = 2000;
const lookMs = 20;

/**
 * A process that has not read the stations yet can answer nothing about them. Reading them takes a moment, for which
 * the first callers wait; 503 when it takes longer, as without database and without a snapshot it does.
 */
function loaded({ follower }: Pick<HttpDeps, "follower">): Check<Route> {
  const wait = async (): Promise<void> => {
    const end = performance.now() + patienceMs;
    while (!follower.loaded() && performance.now() < end) await sleep(lookMs);
    if (!follower.loaded())
      throw refused(
        "upstream-unavailable",
        "The service is starting. Try again in a few seconds.",
        { retryAfterS: 5 },
      );
  };
  return () => (follower.loaded() ? undefined : wait());
}

/** Requests whose city is not percent-encoded, as the server has read them. */
export const unencodedCities = new WeakSet<IncomingMessage>();

/** 404 for those (decisions 9.7). A fault of the query comes before a 404. */
const encoded: Check<Route> = ({ req, state }) => {
  if (state.isInvalid !== true && unencodedCities.has(req)) throw new Refused(cityNotEncoded);
};

const cityNotEncoded = refuse(
  "city-not-found",
  "Send the name of the city percent-encoded in UTF-8.",
);

/** The limit headers of docs/contract.md 8. */
export const limitHeaders = (quota: QuotaDecision): Record<string, string> => ({
  "X-RateLimit-Limit": String(quota.limit),
  "X-RateLimit-Remaining": String(quota.remaining),
  "X-RateLimit-Reset": String(quota.resetS),
  "X-RateLimit-Daily-Limit": String(quota.dailyLimit),
  "X-RateLimit-Daily-Remaining": String(quota.dailyRemaining),
});

/**
 * The budget that a request uses (decisions 8): the partner's for secret keys; for publishable ones the viewer's own,
 * so that a busy page cannot starve its own server. The pepper keeps viewers' addresses out of Redis.
 */
export function meteredOf(
  { config, usedToday }: Pick<HttpDeps, "config" | "usedToday">,
  key: KeyInfo,
  ip: string,
): Metered {
  const { id, rpm, daily } = key.partner;
  if (key.kind === "secret")
    return { bucket: `p${id}`, usage: usageOf(key), rpm, daily, floor: usedToday.floorOf(id) };
  const viewer = viewerName(config.reporterPepper, viewerNetwork(ip));
  return { bucket: `pk:${id}:${viewer}`, usage: usageOf(key), rpm, daily, floor: null };
}

/** The viewers of the last requests: a hash costs as much as the rest of the metering. */
const viewerNames = new LRUCache<string, string>({ max: 1000 });

function viewerName(pepper: string, network: string): string {
  const question = `${network} ${pepper}`;
  const known = viewerNames.get(question);
  if (known !== undefined) return known;
  const name = createHmac("sha256", pepper).update(network).digest("base64url").slice(0, 22);
  viewerNames.set(question, name);
  return name;
}

/** A request's label in the usage: the template, not the path, so that there are as many labels as routes. */
export const usageLabel = ({ method, state: { routePath } }: Context): string =>
  routePath?.labels.get(method) ?? `${method} ${routePath?.template ?? "(unknown)"}`;

const usageOf = ({ kind, partnerId }: KeyInfo): string =>
  kind === "secret" ? `p${partnerId}` : `w${partnerId}`;

type NeedsMeter = Pick<HttpDeps, "meter">;

/** Adds to the usage of a counted request that its answer was not sent again. */
export function countUnchanged({ meter }: NeedsMeter, ctx: Context): void {
  const { quota, key } = ctx.state;
  if (quota !== undefined && key !== undefined)
    meter.note(usageOf(key), quota.day, usageField.notModified(usageLabel(ctx)));
}

/** Adds to the usage what a request of a known key was refused with, counted or not (decisions 12.10). */
export function countRefusal({ meter }: NeedsMeter, ctx: Context, code: ProblemCode): void {
  const { quota, limits, key } = ctx.state;
  const decision = quota ?? limits;
  if (key === undefined || key === canaryKey || decision === undefined) return;
  const [usage, { day, resetS }] = [usageOf(key), decision];
  const what = quota === undefined ? "refused" : "errors";
  meter.note(usage, day, usageField.problem(usageLabel(ctx), what, code));
  // Counted requests get their hour with their duration (src/limits/request-journal.ts).
  if (quota === undefined)
    meter.note(usage, day, usageField.refusedHour(Math.floor((resetS - 60) / hourS) - 24 * day));
}

/** Adds to the usage that marks of a batch were refused while the batch was taken. */
export function countRefusedMark({ meter }: NeedsMeter, ctx: Context, code: ProblemCode): void {
  const { quota, key } = ctx.state;
  if (quota !== undefined && key !== undefined)
    meter.note(usageOf(key), quota.day, usageField.problem(usageLabel(ctx), "marks", code));
}
