import { type Db, inTransaction } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { noteSignIn, type SignInAccount } from "#src/operators/operators.ts";
import { endSession, findSession, openSession } from "#src/operators/sessions.ts";

/** A sign-in with a right password or key. Times in ms. */
export interface SignIn {
  /** The step of its TOTP code; null for an account without TOTP. */
  step: number | null;
  /** The token of the session that the browser had; "" for none. */
  former: string;
  browser: "known" | "new";
  address: string;
  agent: string;
  now: number;
  lifeMs: number;
}

/**
 * Opens a session of the console in place of the browser's former one, of any account, and logs it in the operator's
 * log. Returns its token; null when the account has changed meanwhile, or the code was used before.
 */
export const openConsoleSession = (
  db: Db,
  account: SignInAccount,
  { step, former, browser, address, ...session }: SignIn,
): Promise<string | null> =>
  inTransaction(db, async (tx) => {
    if (!(await noteSignIn(tx, account, step))) return null;
    const old = await findSession(tx, "operator", former, session.now);
    if (old !== null) await endSession(tx, old.id);
    await logAction(tx, {
      actor: account.name,
      action: "console.sign-in",
      subject: `account ${account.name}`,
      details: { address, browser },
    });
    const opened = { kind: "operator", subjectId: account.id, address, ...session } as const;
    return (await openSession(tx, opened)).token;
  });
