import { dashboardCall } from "#api/dashboard/viewer.ts";
import type { Services } from "#api/http/services.ts";
import type { KeyState, ShownKey } from "#src/contract/dashboard.ts";
import { type IssuedKey, listKeys } from "#src/keys/issued-keys.ts";

/** The partner's keys, revoked ones included; never their texts, which are not stored. */
export const keysCall = ({ db, clock }: Services) =>
  dashboardCall("GET", "/keys", {}, async (ctx) => {
    const { key } = ctx.state.viewer;
    const now = clock();
    const keys = await listKeys(db, key.partnerId);
    ctx.body = { keys: keys.map((one) => shown(one, key.id, now)) };
  });

const shown = (key: IssuedKey, current: number, now: number): ShownKey => ({
  id: key.id,
  kind: key.kind,
  prefix: key.prefix,
  label: key.label,
  state: stateOf(key, now),
  domains: key.domains,
  ips: key.ips,
  reports: key.reports,
  created: key.created_at.getTime(),
  expires: timeOrNull(key.expires_at),
  revoked: timeOrNull(key.revoked_at),
  last_used: timeOrNull(key.last_used_at),
  current: key.id === current,
});

const stateOf = ({ revoked_at, expires_at }: IssuedKey, now: number): KeyState =>
  revoked_at !== null
    ? "revoked"
    : expires_at !== null && expires_at.getTime() <= now
      ? "expired"
      : "in force";

const timeOrNull = (time: Date | null): number | null => time?.getTime() ?? null;
