import type { Step } from "#api/context.ts";
import { meteredOf, setLimitHeaders } from "#api/limits.ts";
import type { Services } from "#api/services.ts";
import type { Grant } from "#src/grant.ts";
import { isProblem, refuse, type Problem } from "#src/domain/problems.ts";
import type { KeyInfo } from "#src/keys.ts";

/** Counts the request against minute and day; 429 when one of them is used up (partner-api.md 8). */
export function count(services: Services): Step {
  const { meter } = services;
  return async (ctx, next) => {
    const who = meteredOf(services, ctx.state.key as KeyInfo, ctx.state.ip);
    // The template, not the path: as many labels as routes.
    const label = `${ctx.method} ${ctx.state.match?.place.template ?? "(unknown)"}`;
    const grant = await meter.take(who, label);
    setLimitHeaders(ctx, grant);
    ctx.state.grant = grant;
    if (!grant.granted) return limited(grant);
    let failed = true;
    try {
      const answer = await next();
      failed = answer !== undefined && (isProblem(answer) || (answer.status ?? 200) >= 400);
      if (answer !== undefined && !isProblem(answer) && answer.status === 304) {
        meter.note(who, grant, label, "not_modified");
      }
      return answer;
    } finally {
      if (failed) meter.note(who, grant, label, "errors");
    }
  };
}

function limited(grant: Grant): Problem {
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
