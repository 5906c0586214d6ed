import type { Answer, State, Step } from "#api/http/context.ts";
import { meteredOf } from "#api/http/limits.ts";
import type { Services } from "#api/http/services.ts";
import type { QuotaDecision } from "#src/limits/quota-decision.ts";
import { isRefusal, refuse, type Refusal } from "#src/contract/refusals.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/** Counts the request against minute and day; 429 when one of them is used up (partner-api.md 8). */
export function count(services: Services): Step {
  return async (state) => {
    const who = meteredOf(services, state.key as KeyInfo, state.ip);
    const grant = await services.meter.take(who, labelOf(state));
    state.limits = grant;
    if (!grant.granted) return limited(grant);
    state.grant = grant;
    return undefined;
  };
}

/** Adds to the usage of a counted request what has become of it. */
export function countOutcome(services: Services): (state: State, answer: Answer) => void {
  return (state, answer) => {
    const { grant, key, ip } = state;
    if (grant === undefined || key === undefined) return;
    const status = isRefusal(answer) ? 500 : (answer.status ?? 200);
    if (status !== 304 && status < 400) return;
    const what = status === 304 ? "not_modified" : "errors";
    services.meter.note(meteredOf(services, key, ip), grant, labelOf(state), what);
  };
}

/** The template, not the path: as many labels as routes. */
const labelOf = ({ method, match }: State): string =>
  `${method} ${match?.place.template ?? "(unknown)"}`;

function limited(grant: QuotaDecision): Refusal {
  const { hit, limit, dailyLimit, retryAfterS } = grant;
  if (hit === "minute") {
    return refuse(
      "rate-limit-exceeded",
      `${limit} requests a minute are used up. Wait Retry-After seconds.`,
      {
        retryAfterS,
        limit,
        window: "60s",
      },
    );
  }
  return refuse(
    "daily-quota-exceeded",
    `${dailyLimit} requests a day are used up until 00:00 UTC.`,
    {
      retryAfterS,
      limit: dailyLimit,
      window: "86400s",
    },
  );
}
