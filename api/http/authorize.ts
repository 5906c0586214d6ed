import type { State, Step } from "#api/http/context.ts";
import { meteredOf } from "#api/http/limits.ts";
import type { Services } from "#api/http/services.ts";
import { addressSet, type AddressSet } from "#src/infrastructure/addresses.ts";
import { isAllowedPage } from "#src/contract/hosts.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import type { KeyInfo } from "#src/keys/key-info.ts";

/**
 * The 403s of a valid key, in the order of decisions.md 3: the partner's switch, the key's bindings, its kind.
 * They are not counted and carry the partner's limits.
 */
export function admit(services: Services): Step {
  const { config, meter } = services;
  const bound = new WeakMap<KeyInfo, AddressSet>();

  const isBoundAddress = (key: KeyInfo, ip: string): boolean => {
    if (!key.partner.bindIps || key.ips.length === 0) return true;
    let addresses = bound.get(key);
    if (addresses === undefined) bound.set(key, (addresses = addressSet(key.ips)));
    return addresses.has(ip);
  };

  const refusal = ({ req, ip, match }: State, key: KeyInfo): Refusal | null => {
    if (!key.partner.enabled) {
      return refuse(
        "partner-disabled",
        "Access of this partner is switched off. Ask the operator.",
      );
    }
    if (key.kind === "secret") {
      if (isBoundAddress(key, ip)) return null;
      return refuse(
        "ip-not-allowed",
        `This key is bound to other addresses than ${ip}. Call from one of them, or ask the operator to add this one.`,
      );
    }
    const { origin, referer } = req.headers;
    if (!isAllowedPage({ origin, referer }, key.domains, config.baseUrl)) {
      return refuse(
        "domain-not-allowed",
        "This key is bound to other domains than the calling page's. Ask the operator to add it; subdomains come along.",
      );
    }
    return match?.place.open === true
      ? null
      : refuse("secret-key-required", "Call this from your server with a secret key (svc_live_…).");
  };

  const refuseWithLimits = async (
    state: State,
    key: KeyInfo,
    refused: Refusal,
  ): Promise<Refusal> => {
    state.limits = await meter.peek(meteredOf(services, key, state.ip));
    return refused;
  };

  return (state) => {
    const key = state.key as KeyInfo;
    const refused = refusal(state, key);
    return refused === null ? undefined : refuseWithLimits(state, key, refused);
  };
}
