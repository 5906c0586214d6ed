import { type Static, type TSchema, Type } from "typebox";
import type { OperatorGate } from "#api/console/operator-gate.ts";
import { Refused, refused } from "#api/http/errors.ts";
import type { ConsoleDeps } from "#api/console/deps.ts";
import { pageCall, type PageCall } from "#api/pages/page-calls.ts";
import type { ConsoleAccount } from "#src/contract/console.ts";
import { viewerNetwork } from "#src/infrastructure/addresses.ts";
import { viewerHash } from "#src/marks/marks.ts";
import {
  noteFailedSignIn,
  createKnownBrowsers,
  knownForMs,
  openConsoleSession,
} from "#src/operators/sign-in.ts";
import {
  type Credentials,
  findToSignIn,
  opensAccount,
  type SignInAccount,
} from "#src/operators/operators.ts";
import { endSession, findSession } from "#src/operators/sessions.ts";
import { isCrowded } from "#src/operators/passwords.ts";
import { openTotp, stepOfCode } from "#src/operators/totp.ts";
import { signInLimit } from "#api/pages/guards.ts";
import { minuteMs } from "#src/domain/units.ts";
import { createAttempts } from "#src/operators/attempts.ts";

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const typed = Type.Object({ name: text(80), password: text(200), code: Type.Optional(text(20)) });
type Typed = Static<typeof typed>;
const body = Type.Union([typed, Type.Object({ key: text(200) })]);
type Body = Static<typeof body>;

/**
 * Signing in: by name and password, with a code where the account has TOTP (decisions 13.13), or by an operator
 * key. Limited as 13.9 says. It ends the session that the browser had, and with a password makes it a known browser.
 */
export function signInCall(services: ConsoleDeps, gate: OperatorGate): PageCall<null> {
  const { db, config, clock, log, metrics } = services;
  const { sessionLifeMs: lifeMs, reporterPepper: pepper } = config;
  const { cookie, browserCookie } = gate;
  const limits = signInLimits(services);
  const browsers = createKnownBrowsers(pepper);

  /** The step of the code that was sent; null for an account without TOTP. Throws when there is none. */
  const stepFor = async (
    { id, totp_secret: sealed }: SignInAccount,
    { code }: Typed,
    now: number,
  ): Promise<number | "wrong" | null> => {
    if (sealed === null) return null;
    if (code === undefined) throw codeNeeded;
    const secret = openTotp(pepper, id, sealed);
    if (secret === null)
      log.error("a TOTP secret needs another REPORTER_PEPPER: disable and enable it again");
    const step = secret && (await stepOfCode(secret, code.replaceAll(/\s/g, ""), now));
    return step ?? "wrong";
  };

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
    const isKnown = browser !== null;
    // Before the attempt counts: the crowd is not this caller's fault.
    if (!isKey && !isKnown && isCrowded()) throw crowded;
    const succeeded = limits.begin({ ip, account, browser });
    const fail = async (why: Refused): Promise<never> => {
      const network = viewerHash(pepper, viewerNetwork(ip));
      await noteFailedSignIn(db, { account: found, network, at: now });
      throw why;
    };
    if (!(await opensAccount(found, credentials, isKnown)) || found === null) return fail(failed);
    const step = isKey ? null : await stepFor(found, body as Typed, now);
    if (step === "wrong") return fail(codeWrong);

    const token = await openConsoleSession(db, found, {
      step,
      former: cookie.read(ctx) ?? "",
      browser: isKnown ? "known" : "new",
      address: ip,
      agent: ctx.get("User-Agent"),
      now,
      lifeMs,
    });
    if (token === null) return fail(step === null ? failed : codeWrong);
    cookie.give(ctx, token, lifeMs);
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

const crowded = refused(
  "rate-limit-exceeded",
  "Many are signing in just now. Try again in a few seconds; a browser that has signed in before does not wait.",
  { retryAfterS: 3 },
);

// Sent only after the right password: nobody else learns that the account has a code.
const codeNeeded = refused(
  "sign-in-code-required",
  "Enter the code that your authenticator app shows.",
);
const codeWrong = refused(
  "sign-in-code-required",
  "This code is wrong, over, or was used before. Enter the one that your app shows now.",
);

const trimmed = (body: Body): Credentials =>
  "key" in body ? { key: body.key.trim() } : { name: body.name.trim(), password: body.password };

/** Signing out. Open to everybody, so that a browser can always forget its cookie. It stays a known browser. */
export const signOutCall = ({ db, clock }: ConsoleDeps, { cookie }: OperatorGate): PageCall<null> =>
  pageCall<null>()("DELETE", "/session", {}, async (ctx) => {
    const token = cookie.read(ctx);
    const session = token === null ? null : await findSession(db, "operator", token, clock());
    if (session !== null) await endSession(db, session.id);
    cookie.take(ctx);
    ctx.status = 204;
  });

/** An attempt to sign in. */
interface Attempt {
  ip: string;
  /** The id of the account, or the name that somebody has made up; null for a key, which nobody can guess. */
  account: number | string | null;
  /** The browser that has signed in as this account before; null for any other. */
  browser: string | null;
}

/**
 * The limits of signing in (decisions 13.9): SIGN_INS_PER_MINUTE for a network; a growing delay for a network
 * at an account, and for all strangers at an account together. A known browser has a delay of its own instead of these.
 */
function signInLimits(services: Pick<ConsoleDeps, "config" | "clock">) {
  const countNetwork = signInLimit(services);
  const ofOne = createAttempts({ free: 5, longestMs: 15 * minuteMs });
  const ofStrangers = createAttempts({ free: 20, longestMs: minuteMs });

  const countersOf = ({ ip, account, browser }: Attempt) => {
    if (account === null) return [];
    const name = `${typeof account} ${account}`;
    if (browser !== null) return [{ attempts: ofOne, key: `browser ${browser} ${name}` }];
    return [
      { attempts: ofOne, key: `network ${viewerNetwork(ip)} ${name}` },
      { attempts: ofStrangers, key: name },
    ];
  };

  return {
    /** Counts an attempt; throws 429. Returns what to call when it has succeeded. */
    begin(attempt: Attempt): () => void {
      if (attempt.browser === null) countNetwork(attempt.ip);
      const counters = countersOf(attempt);
      const now = services.clock();
      const waitMs = Math.max(0, ...counters.map(({ attempts, key }) => attempts.waitMs(key, now)));
      if (waitMs > 0) {
        const retryAfterS = Math.ceil(waitMs / 1000);
        const words = `Too many attempts to sign in. Try again in ${retryAfterS} s.`;
        throw refused("rate-limit-exceeded", words, { retryAfterS });
      }
      for (const { attempts, key } of counters) attempts.count(key, now);
      return () => counters.forEach(({ attempts, key }) => attempts.forget(key));
    },
  };
}
