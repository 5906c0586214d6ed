import { networkLimit } from "#api/pages/network-limit.ts";
import type { Services } from "#api/http/services.ts";
import type { Refusal } from "#src/contract/refusals.ts";

/** Counts an attempt to sign in from `ip`; a refusal (429) when its network has used up its attempts of the minute. */
export const signInLimit = (
  services: Pick<Services, "config" | "clock">,
): ((ip: string) => Refusal | null) =>
  networkLimit(services, services.config.signInsPerMinute, "attempts to sign in");
