import { Type } from "typebox";
import { dashboardCall, refuseKey } from "#api/dashboard/viewer.ts";
import { refused, Refused } from "#api/http/errors.ts";
import { pageCall } from "#api/pages/page-calls.ts";
import type { SessionCookie } from "#api/pages/session-cookie.ts";
import { signInLimit } from "#api/pages/guards.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import type { DashboardSession } from "#src/contract/dashboard.ts";
import { findKey } from "#src/keys/issued-keys.ts";
import { type KeyInfo, loadKey } from "#src/keys/key-info.ts";
import { endSession, findSession, openSession } from "#src/operators/sessions.ts";

const body = Type.Object({ key: Type.String({ minLength: 1, maxLength: 200 }) });

/** Exchanges a secret key for a session (docs/contract.md 5.6). The key is neither stored nor sent back. */
export function signInCall(services: DashboardDeps, cookie: SessionCookie) {
  const { config, db, clock, keys } = services;
  const countAttempt = signInLimit(services);
  return pageCall<null>()("POST", "/session", { body }, async (ctx) => {
    const { ip, body } = ctx.state;
    countAttempt(ip);
    const cached = await keys.find(body.key.trim());
    // The keys in memory may be some seconds old.
    const key = cached === null ? null : await loadKey(db, cached.id);
    if (key === null) {
      throw refused(
        "invalid-key",
        "This key is not in force. Check that it was copied whole, from svc_live_ to its last character; a revoked, expired or lost key cannot be used again: ask the operator for a new one.",
      );
    }
    const refusal = refuseKey(key, ip);
    if (refusal !== null) throw new Refused(refusal);
    const [now, lifeMs] = [clock(), config.sessionLifeMs];
    const former = await findSession(db, "key", cookie.read(ctx) ?? "", now);
    if (former !== null) await endSession(db, former.id);
    const agent = ctx.req.headers["user-agent"] ?? "";
    const session = { kind: "key", subjectId: key.id, address: ip, agent, now, lifeMs } as const;
    const { token, expiresAt } = await openSession(db, session);
    cookie.give(ctx, token, lifeMs);
    ctx.status = 201;
    ctx.body = await shown(services, key, expiresAt);
  });
}

/** The partner and the key that are signed in. */
export const showSessionCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/session", {}, async (ctx) => {
    const { key, expiresAt } = ctx.state.viewer;
    ctx.body = await shown(services, key, expiresAt);
  });

/** Signs out. */
export const signOutCall = ({ db }: DashboardDeps, cookie: SessionCookie) =>
  dashboardCall("DELETE", "/session", {}, async (ctx) => {
    await endSession(db, ctx.state.viewer.sessionId);
    cookie.take(ctx);
    ctx.status = 204;
  });

async function shown(
  { config, db }: DashboardDeps,
  { id, partner }: KeyInfo,
  expiresAt: number,
): Promise<DashboardSession> {
  const stored = await findKey(db, id);
  return {
    partner: partner.name,
    key: { id, prefix: stored?.prefix ?? "", label: stored?.label ?? "" },
    expires: expiresAt,
    base_url: config.baseUrl,
  };
}
