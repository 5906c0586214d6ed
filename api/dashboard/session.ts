import { Type } from "typebox";
import { dashboardCall, type DashboardViewer, refuseKey } from "#api/dashboard/viewer.ts";
import { refused, Refused } from "#api/http/errors.ts";
import { pageCall } from "#api/pages/page-calls.ts";
import type { SessionCookie } from "#api/pages/session-cookie.ts";
import { signInLimit } from "#api/pages/guards.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import type { DashboardSession } from "#src/contract/dashboard.ts";
import { findKey } from "#src/keys/issued-keys.ts";
import { loadKey } from "#src/keys/key-store.ts";
import { endSession, findSession, openSession } from "#src/operators/sessions.ts";

const body = Type.Object({ key: Type.String({ minLength: 1, maxLength: 200 }) });
const linkBody = Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) });

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
    await endFormer(db, cookie.read(ctx), now);
    const agent = ctx.req.headers["user-agent"] ?? "";
    const session = { kind: "key", subjectId: key.id, address: ip, agent, now, lifeMs } as const;
    const { token, expiresAt } = await openSession(db, session);
    cookie.give(ctx, token, lifeMs);
    ctx.status = 201;
    ctx.body = await shown(services, { key, expiresAt, link: null });
  });
}

/** Opens the dashboard by a link (decisions 12.16): from then on the browser's session is the link itself. */
export function followLinkCall(services: DashboardDeps, cookie: SessionCookie) {
  const { db, clock } = services;
  const countAttempt = signInLimit(services);
  return pageCall<null>()("POST", "/session/link", { body: linkBody }, async (ctx) => {
    const { ip, body } = ctx.state;
    countAttempt(ip);
    const now = clock();
    const session = await findSession(db, "link", body.token, now);
    const key = session === null ? null : await loadKey(db, session.subjectId);
    if (session === null || key === null) throw refused("session-over", "This link is over.");
    const refusal = refuseKey(key, ip);
    if (refusal !== null) throw new Refused(refusal);
    await endFormer(db, cookie.read(ctx), now);
    cookie.give(ctx, body.token, session.expiresAt - now);
    ctx.status = 201;
    const { expiresAt, label } = session;
    ctx.body = await shown(services, { key, expiresAt, link: label });
  });
}

/** Ends the session that this browser has, as long as it is not a link: others may use that one. */
async function endFormer(db: DashboardDeps["db"], token: string | null, now: number) {
  const former = token === null ? null : await findSession(db, "key", token, now);
  if (former !== null) await endSession(db, former.id);
}

/** The partner and the key that are signed in. */
export const showSessionCall = (services: DashboardDeps) =>
  dashboardCall("GET", "/session", { role: "reader" }, async (ctx) => {
    ctx.body = await shown(services, ctx.state.viewer);
  });

/** Signs out. A link stays as it is, for others. */
export const signOutCall = ({ db }: DashboardDeps, cookie: SessionCookie) =>
  dashboardCall("DELETE", "/session", { role: "reader" }, async (ctx) => {
    const { sessionId, link } = ctx.state.viewer;
    if (link === null) await endSession(db, sessionId);
    cookie.take(ctx);
    ctx.status = 204;
  });

async function shown(
  { config, db }: DashboardDeps,
  { key: { id, partner }, expiresAt, link }: Omit<DashboardViewer, "sessionId">,
): Promise<DashboardSession> {
  const stored = await findKey(db, id);
  return {
    partner: partner.name,
    key: { id, prefix: stored?.prefix ?? "", label: stored?.label ?? "" },
    expires: expiresAt,
    base_url: config.baseUrl,
    link,
  };
}
