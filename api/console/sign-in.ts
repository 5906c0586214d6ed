import { type TSchema, Type } from "typebox";
import type { OperatorGate } from "#api/console/operator-gate.ts";
import { signInLimits } from "#api/console/sign-in-limits.ts";
import { Refused, refused } from "#api/http/errors.ts";
import type { Services } from "#api/http/services.ts";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { inTransaction, type Tx } from "#src/infrastructure/db.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { viewerHash } from "#src/marks/reporter.ts";
import { noteFailedSignIn } from "#src/operators/failed-sign-ins.ts";
import { createKnownBrowsers, knownForMs } from "#src/operators/known-browsers.ts";
import { logAction } from "#src/operators/operator-log.ts";
import {
  type Credentials,
  findToSignIn,
  noteSignIn,
  opensAccount,
} from "#src/operators/operators.ts";
import { endSession, findSession, openSession } from "#src/operators/sessions.ts";

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const body = Type.Union([
  Type.Object({ name: text(80), password: text(200) }),
  Type.Object({ key: text(200) }),
]);

/**
 * Signing in: by name and password, or by an operator key (docs/decisions.md 13.9). It ends the session that the
 * browser had, and with a password makes the browser a known one.
 */
export function signInCall(services: Services, gate: OperatorGate): PageCall<null> {
  const { db, config, clock, metrics } = services;
  const { sessionLifeMs: lifeMs } = config;
  const { cookie, browserCookie } = gate;
  const limits = signInLimits(services);
  const browsers = createKnownBrowsers(config.reporterPepper);

  type Ctx = Parameters<PageCall<null, TSchema, typeof body>["handle"]>[0];
  const signIn = async (ctx: Ctx): Promise<void> => {
    const { ip, body } = ctx.state;
    const now = clock();
    const credentials = trimmed(body);
    const isKey = "key" in credentials;
    const found = await findToSignIn(db, credentials);
    const proof = browserCookie.read(ctx);
    const browser = isKey || !found || !proof ? null : browsers.read(found, proof, now);
    const account = isKey ? null : (found?.id ?? credentials.name.toLowerCase());
    const succeeded = limits.begin({ ip, account, browser });
    if (!(await opensAccount(found, credentials)) || found === null) {
      const network = viewerHash(config.reporterPepper, viewerNetwork(ip));
      await noteFailedSignIn(db, { account: found, network, at: now });
      throw failed;
    }

    const open = async (tx: Tx): Promise<string> => {
      if (!(await noteSignIn(tx, found))) throw failed;
      const former = await findSession(tx, "operator", cookie.read(ctx) ?? "", now);
      if (former !== null) await endSession(tx, former.id);
      const agent = ctx.get("User-Agent");
      const subjectId = found.id;
      const session = { kind: "operator", subjectId, address: ip, agent, now, lifeMs } as const;
      await logAction(tx, {
        actor: found.name,
        action: "console.sign-in",
        subject: `account ${found.name}`,
        details: { address: ip, browser: browser === null ? "new" : "known" },
      });
      return (await openSession(tx, session)).token;
    };
    cookie.give(ctx, await inTransaction(db, open), lifeMs);
    if (!isKey) browserCookie.give(ctx, browsers.prove(found, now, browser), knownForMs);
    succeeded();
    const { id, name, role } = found;
    ctx.status = 201;
    ctx.body = { account: { id, name, role } satisfies ConsoleAccount };
  };

  return pageCall<null>()("POST", "/session", { body }, async (ctx) => {
    try {
      await signIn(ctx);
      metrics.signedIn(null);
    } catch (error) {
      if (error instanceof Refused) metrics.signedIn(error.refusal.code);
      throw error;
    }
  });
}

const failed = refused(
  "sign-in-failed",
  "No account has this name with this password, or this key.",
);

const trimmed = (body: Credentials): Credentials =>
  "key" in body ? { key: body.key.trim() } : { ...body, name: body.name.trim() };

/** Signing out. Open to everybody, so that a browser can always forget its cookie. It stays a known browser. */
export const signOutCall = ({ db, clock }: Services, { cookie }: OperatorGate): PageCall<null> =>
  pageCall<null>()("DELETE", "/session", {}, async (ctx) => {
    const token = cookie.read(ctx);
    const session = token === null ? null : await findSession(db, "operator", token, clock());
    if (session !== null) await endSession(db, session.id);
    cookie.take(ctx);
    ctx.status = 204;
  });
