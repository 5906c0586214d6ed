import { Type } from "typebox";
import { dashboardCall, refuseKey } from "#api/dashboard/viewer.ts";
import { pageCall } from "#api/pages/json-page.ts";
import type { SessionCookie } from "#api/pages/session-cookie.ts";
import { signInLimit } from "#api/pages/sign-in-limit.ts";
import type { Services } from "#api/http/services.ts";
import type { DashboardSession } from "#src/contract/dashboard.ts";
import { refuse } from "#src/contract/refusals.ts";
import { findKey } from "#src/keys/issued-keys.ts";
import { type KeyInfo, loadKey } from "#src/keys/key-info.ts";
import { endSession, findSession, openSession } from "#src/operators/sessions.ts";

const body = Type.Object({ key: Type.String({ minLength: 1, maxLength: 200 }) });

/** Exchanges a secret key for a session (partner-api.md 5.6). The key is neither stored nor sent back. */
export function signInCall(services: Services, cookie: SessionCookie) {
  const { config, db, clock, keys } = services;
  const attempt = signInLimit(services);
  return pageCall<null>()({
    method: "POST",
    path: "/session",
    body,
    async handle({ body, ctx }) {
      const { ip } = ctx.state;
      const tooMany = attempt(ip);
      if (tooMany !== null) return tooMany;
      const known = await keys.find(body.key.trim());
      // Memory may be some seconds behind.
      const key = known === null ? null : await loadKey(db, known.id);
      if (key === null) {
        return refuse(
          "invalid-key",
          "This key is not in force. Check that it was copied whole, from svc_live_ to its last character; a revoked, expired or lost key cannot be used again: ask the operator for a new one.",
        );
      }
      const refused = refuseKey(key, ip);
      if (refused !== null) return refused;
      const [now, lifeMs] = [clock(), config.sessionLifeMs];
      const former = await findSession(db, "key", cookie.read(ctx) ?? "", now);
      if (former !== null) await endSession(db, former.id);
      const agent = ctx.req.headers["user-agent"] ?? "";
      const session = { kind: "key", subjectId: key.id, address: ip, agent, now, lifeMs } as const;
      const { token, expiresAt } = await openSession(db, session);
      cookie.give(ctx, token, lifeMs);
      return { status: 201, body: await shown(services, key, expiresAt) };
    },
  });
}

/** Who is signed in. */
export const showSessionCall = (services: Services) =>
  dashboardCall({
    method: "GET",
    path: "/session",
    handle: async ({ viewer }) => ({ body: await shown(services, viewer.key, viewer.expiresAt) }),
  });

/** Signs out. */
export const signOutCall = ({ db }: Services, cookie: SessionCookie) =>
  dashboardCall({
    method: "DELETE",
    path: "/session",
    async handle({ viewer, ctx }) {
      await endSession(db, viewer.sessionId);
      cookie.take(ctx);
      return { status: 204 };
    },
  });

async function shown(
  { config, db }: Services,
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
