import type { Context, Step } from "#api/context.ts";
import { meteredOf, setLimitHeaders } from "#api/limits.ts";
import type { Router } from "#api/router.ts";
import type { Services } from "#api/services.ts";
import { addressSet, type AddressSet } from "#src/addresses.ts";
import { isAllowedPage } from "#src/domain/hosts.ts";
import { refuse, type Problem } from "#src/domain/problems.ts";
import type { KeyInfo } from "#src/keys.ts";

/**
 * The 403s of a valid key, in the order of decisions.md 3: the partner's switch, the key's bindings, its kind.
 * They are not counted and carry the partner's limits.
 */
export function admit(services: Services, router: Router): Step {
  const { config, meter } = services;
  const bound = new WeakMap<KeyInfo, AddressSet>();

  const isBoundAddress = (key: KeyInfo, ip: string): boolean => {
    if (!key.partner.bindIps || key.ips.length === 0) return true;
    let addresses = bound.get(key);
    if (addresses === undefined) bound.set(key, (addresses = addressSet(key.ips)));
    return addresses.has(ip);
  };

  const refusal = (ctx: Context, key: KeyInfo): Problem | null => {
    const { ip, match } = ctx.state;
    if (!key.partner.enabled) {
      return refuse(
        "partner-disabled",
        "Access of this partner is switched off. Ask the operator.",
      );
    }
    if (key.kind === "secret") {
      if (isBoundAddress(key, ip)) return null;
      return refuse("ip-not-allowed", `This key is bound to other addresses than ${ip}.`);
    }
    const { origin, referer } = ctx.req.headers;
    if (!isAllowedPage({ origin, referer }, key.domains, config.baseUrl)) {
      return refuse(
        "domain-not-allowed",
        "This key is bound to other domains than the calling page's.",
      );
    }
    const open = match !== undefined && [...match.place.routes.values()].some(isOpen);
    return open
      ? null
      : refuse("secret-key-required", "Call this from your server with a secret key (svc_live_…).");
  };

  return async (ctx, next) => {
    const key = ctx.state.key as KeyInfo;
    const match = router(ctx.state.path);
    if (match !== null) ctx.state.match = match;
    const refused = refusal(ctx, key);
    if (refused === null) return next();
    setLimitHeaders(ctx, await meter.peek(meteredOf(services, key, ctx.state.ip)));
    return refused;
  };
}

const isOpen = ({ access }: { access: string }): boolean => access === "any";
