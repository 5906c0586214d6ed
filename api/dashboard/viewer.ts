import type { Context } from "#api/http/route.ts";
import type { SessionCookie } from "#api/pages/session-cookie.ts";
import { type PageCall, pageCall } from "#api/pages/page-calls.ts";
import type { DashboardDeps } from "#api/dashboard/deps.ts";
import { addressSet } from "#src/infrastructure/addresses.ts";
import { refuse, type Refusal } from "#src/contract/refusals.ts";
import { type KeyInfo, loadKey } from "#src/keys/key-store.ts";
import { endSession, findSession } from "#src/operators/sessions.ts";

/** A partner in its dashboard: signed in with a key that is in force at this moment, or a reader by a link of it. */
export interface DashboardViewer {
  key: KeyInfo;
  sessionId: number;
  /** ms */
  expiresAt: number;
  /** For whom the link is by which the viewer came, who may change nothing; null with the key itself. */
  link: string | null;
}

/** Gives the literal of a dashboard's call its types. The role `reader` opens it to readers by a link too. */
export const dashboardCall = pageCall<DashboardViewer>();

/**
 * The partner that has sent a request. Each call reads the key from the database, so a session is over on every process
 * as soon as its key is revoked or expired, its partner switched off, or its address not among the key's.
 */
export const dashboardViewer =
  ({ db, clock }: Pick<DashboardDeps, "db" | "clock">, cookie: SessionCookie) =>
  async (ctx: Context, call: PageCall<DashboardViewer>): Promise<DashboardViewer | Refusal> => {
    const token = cookie.read(ctx);
    const session = token === null ? null : await findSession(db, kinds, token, clock());
    const key = session === null ? null : await loadKey(db, session.subjectId);
    if (session !== null && key !== null && refuseKey(key, ctx.state.ip) === null) {
      const link = session.kind === "link" ? session.label : null;
      if (link !== null && call.role !== "reader") return refuse("secret-key-required", onlyReads);
      return { key, sessionId: session.id, expiresAt: session.expiresAt, link };
    }
    // A key or partner that is gone ends the session for good; from another address it is only refused.
    if (session !== null && key?.partner.enabled !== true) await endSession(db, session.id);
    if (token !== null) cookie.take(ctx);
    return refuse("session-over", "You are not signed in, or your session is over.");
  };

/** Sessions that open the dashboard. */
export const kinds = ["key", "link"] as const;
const onlyReads =
  "Your link shows the dashboard and changes nothing. Sign in with a secret key for this.";

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
