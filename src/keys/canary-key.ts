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

type Pepper = Pick<Config, "reporterPepper">;

/** What the canary shows in place of a key: it follows from the pepper, which strangers lack, and from the minute. */
export const canaryText = ({ reporterPepper }: Pepper, now: number): string => {
  const minute = `canary\0${Math.floor(now / minuteMs)}`;
  return `canary_${createHmac("sha256", reporterPepper).update(minute).digest("hex")}`;
};

/** Whether a text is that of this minute, or of one beside it: clocks differ. */
export const isCanary = (pepper: Pepper, text: string, now: number): boolean =>
  /^canary_\w{64}$/.test(text) &&
  [0, -minuteMs, minuteMs].some((ms) =>
    timingSafeEqual(Buffer.from(text), Buffer.from(canaryText(pepper, now + ms))),
  );
