import { setTimeout as sleep } from "node:timers/promises";
import { meteredOf, usageLabel } from "#api/http/limits.ts";
import { headersForPage } from "#api/http/cors.ts";
import type { Check } from "#api/http/register-routes.ts";
import { Refused, refused } from "#api/http/errors.ts";
import type { ApiContext, Route } from "#api/http/route.ts";
import type { Context } from "#api/http/context.ts";
import type { HttpDeps } from "#api/http/deps.ts";
import { cityNotEncoded, hasUnencodedCity } from "#api/http/server.ts";
import { asksDryRun } from "#src/contract/request-headers.ts";
import { isAllowedPage } from "#src/contract/hosts.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { type AddressSet, addressSet, viewerNetwork } from "#src/infrastructure/addresses.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";
import type { QuotaDecision } from "#src/limits/limiter.ts";

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
function authenticate({ keys, meter }: HttpDeps): Check<Route> {
  const enter = ({ headers, state }: Context, text: string, key: KeyInfo | null): void => {
    const { origin } = headers;
    if (origin !== undefined) {
      // A page may read that its key has ended.
      const known = key ?? keys.ended(text);
      if (known !== null) state.forPage = headersForPage(known, origin);
    }
    if (key === null) throw new Refused(invalidKey);
    state.key = key;
  };
  return (ctx) => {
    const text = bearer.exec(ctx.headers.authorization ?? "")?.[1] ?? "";
    const key = text === "" ? null : keys.known(text);
    const isOutdated = key !== null && keys.outdated();
    if (key && !isOutdated) return enter(ctx, text, key);
    // Before the look-up, which may fail: every answer carries limits.
    ctx.state.limits = meter.anonymous(viewerNetwork(ctx.state.ip));
    if (isOutdated) throw new Refused(outdatedKeys);
    if (key === null) return enter(ctx, text, null);
    return keys.find(text).then((found) => enter(ctx, text, found));
  };
}

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
  const bound = new WeakMap<KeyInfo, AddressSet>();

  const isBoundAddress = (key: KeyInfo, ip: string): boolean => {
    if (!key.partner.bindIps || key.ips.length === 0) return true;
    let addresses = bound.get(key);
    if (addresses === undefined) bound.set(key, (addresses = addressSet(key.ips)));
    return addresses.has(ip);
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

/**
 * 404 for the name of a city in bytes that are not percent-encoded (decisions 9.7). A fault of the query comes
 * before a 404.
 */
const encoded: Check<Route> = ({ req, state }) => {
  if (state.isInvalid !== true && hasUnencodedCity(req)) throw new Refused(cityNotEncoded);
};
