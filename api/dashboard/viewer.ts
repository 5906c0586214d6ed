import type { Context } from "#api/http/context.ts";
import type { SessionCookie } from "#api/pages/session-cookie.ts";
import { pageCall } from "#api/pages/page-calls.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import { addressSet } from "#src/infrastructure/addresses.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { type KeyInfo, loadKey } from "#src/keys/key-info.ts";
import { endSession, findSession } from "#src/operators/sessions.ts";

/** A partner in its dashboard: signed in with a key that is in force at this moment. */
export interface DashboardViewer {
  key: KeyInfo;
  sessionId: number;
  /** ms */
  expiresAt: number;
}

/** Gives the literal of a dashboard's call its types. */
export const dashboardCall = pageCall<DashboardViewer>();

/**
 * The partner that has sent a request. Each call reads the key from the database, so a session is over on every process
 * as soon as its key is revoked or expired, its partner switched off, or its address not among the key's.
 */
export const dashboardViewer =
  ({ db, clock }: Pick<DashboardDeps, "db" | "clock">, cookie: SessionCookie) =>
  async (ctx: Context): Promise<DashboardViewer | Refusal> => {
    const token = cookie.read(ctx);
    const session = token === null ? null : await findSession(db, "key", token, clock());
    const key = session === null ? null : await loadKey(db, session.subjectId);
    if (session !== null && key !== null && refuseKey(key, ctx.state.ip) === null)
      return { key, sessionId: session.id, expiresAt: session.expiresAt };
    // A key or partner that is gone ends the session for good; from another address it is only refused.
    if (session !== null && key?.partner.enabled !== true) await endSession(db, session.id);
    if (token !== null) cookie.take(ctx);
    return refuse("session-over", "You are not signed in, or your session is over.");
  };

/** Why a key that is in force is refused at `ip`: the 403s of docs/contract.md 5 hold here too. */
export function refuseKey(key: KeyInfo, ip: string): Refusal | null {
  if (key.kind !== "secret") {
    return refuse(
      "secret-key-required",
      "This is a publishable key (pk_live_…), for pages. Sign in with a secret key (svc_live_…).",
    );
  }
  if (!key.partner.enabled) return refuse("partner-disabled");
  if (key.partner.bindIps && key.ips.length > 0 && !addressSet(key.ips).has(ip))
    return refuse(
      "ip-not-allowed",
      `This key is bound to other addresses than yours (${ip}). Sign in from one of them, or with another secret key.`,
    );
  return null;
}
