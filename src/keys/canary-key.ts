import { createHmac, timingSafeEqual } from "node:crypto";
import { minuteMs } from "#src/domain/units.ts";
import type { Config } from "#src/infrastructure/config.ts";
import type { KeyInfo } from "#src/keys/key-store.ts";

/** The key of the canary (decisions 16.41), of no partner: it reads, and nothing counts it. */
export const canaryKey: KeyInfo = Object.freeze({
  ...({ id: 0, kind: "secret", partnerId: 0, domains: [], ips: [], expiresAt: null } as const),
  ...{ confirmMin: 1, reports: false },
  partner: {
    ...{ id: 0, name: "canary", rpm: 0, daily: 0, enabled: true, bindIps: false, launch: null },
    ...{ acceptRemote: false, cacheTtlS: null, newUsersDaily: null },
  },
});

const prefix = "canary_";

/** What the canary shows in place of a key: it follows from the pepper, which strangers lack, and from the minute. */
export const canaryText = ({ reporterPepper }: Pick<Config, "reporterPepper">, now: number) =>
  prefix +
  createHmac("sha256", reporterPepper)
    .update(prefix + Math.floor(now / minuteMs))
    .digest("hex");

/** Whether a text is that of this minute, or of one beside it: clocks differ. */
export const isCanary = (config: Pick<Config, "reporterPepper">, text: string, now: number) =>
  text.startsWith(prefix) &&
  text.length === canaryText(config, now).length &&
  [0, -minuteMs, minuteMs].some((ms) =>
    timingSafeEqual(Buffer.from(text), Buffer.from(canaryText(config, now + ms))),
  );
