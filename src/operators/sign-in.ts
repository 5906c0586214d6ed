import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Db, inTransaction, rows } from "#src/infrastructure/db.ts";
import { logAction } from "#src/operators/operator-log.ts";
import { noteSignIn, type SignInAccount } from "#src/operators/operators.ts";
import { endSession, findSession, openSession } from "#src/operators/sessions.ts";
import { dayMs, hourMs } from "#src/domain/units.ts";
import { raiseAlarms } from "#src/alarms/raise.ts";
import { formatTime } from "#src/domain/time.ts";

/** A sign-in with a right password or key. Times in ms. */
interface SignIn {
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
    const old = await findSession(tx, "operator", former, session.now, { isSeen: false });
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

/** Time for which a browser stays known after its last sign-in. */
export const knownForMs = 180 * dayMs;

/** The parts of an account that a browser's proof is bound to: a new password ends all proofs. */
interface Bound {
  id: number;
  /** `hashPassword` of its password. */
  password: string | null;
}

const form = /^([\w-]{16})\.(\d{1,15})\.([\w-]{43})$/;

/**
 * Proofs that somebody has signed in to an account with a browser (decisions 13.9): `id.end.mac`. Only the browser
 * stores them. A proof opens nothing; it only tells a browser from those of strangers.
 */
export function createKnownBrowsers(pepper: string) {
  const key = createHmac("sha256", pepper).update("known browsers").digest();
  const macOf = ({ id, password }: Bound, browser: string, end: string): Buffer =>
    createHmac("sha256", key).update([id, browser, end, password].join("\0")).digest();
  return {
    /** A proof for a browser; `browser` is its id when it had one. */
    prove(account: Bound, now: number, browser: string | null): string {
      const id = browser ?? randomBytes(12).toString("base64url");
      const end = String(now + knownForMs);
      return `${id}.${end}.${macOf(account, id, end).toString("base64url")}`;
    },
    /** The id of the browser that has this proof for this account; null for an invalid or expired proof. */
    read(account: Bound, proof: string, now: number): string | null {
      const [, id = "", end = "", mac = ""] = form.exec(proof) ?? [];
      if (id === "" || Number(end) <= now) return null;
      const sent = Buffer.from(mac, "base64url");
      return timingSafeEqual(sent, macOf(account, id, end)) ? id : null;
    },
  };
}

const action = "console.sign-in-failed";
/** Further networks of an account and hour are counted together, so that strangers cannot fill the log. */
const networksKept = 20;
/** Failures in an hour at one account that raise an alarm. */
const manyFailures = 20;

/**
 * Counts a failed sign-in in the operator's log: an entry for each account, network and UTC hour (decisions 13.12).
 * Names without an account count as one. Raises the alarm when there are many.
 *
 * @param failure `network` is its hash, `at` in ms
 */
export const noteFailedSignIn = (
  db: Db,
  failure: { account: { id: number; name: string } | null; network: string; at: number },
): Promise<void> =>
  inTransaction(db, async (tx) => {
    const { account, at } = failure;
    const subject = account === null ? "unknown account" : `account ${account.name}`;
    const hour = formatTime(Math.floor(at / hourMs) * hourMs);
    // Enough of the hash to tell networks apart.
    const network = failure.network.slice(0, 8);
    const ofHour = `from operator_log
      where action = '${action}' and subject = ? and details ->> 'hour' = ?`;
    const sql = `select count(*), coalesce(bool_or(details ->> 'network' = ?), false) as here ${ofHour}`;
    const [known] = await rows<{ count: number; here: boolean }>(tx, sql, [network, subject, hour]);
    const counted = known!.here || known!.count < networksKept ? network : "others";
    // A function of the owner, because few rights do not reach for an upsert (migration 0060).
    await rows(tx, "select count_failed_sign_in(?, ?, ?)", [subject, hour, counted]);
    const sumSql = `select sum((details ->> 'count')::int)::int as failures ${ofHour}`;
    const [sum] = await rows<{ failures: number }>(tx, sumSql, [subject, hour]);
    const { failures } = sum!;
    if (failures < manyFailures) return;
    const about =
      account === null
        ? ({ code: "accounts-unknown" } as const)
        : ({ code: "account", account: account.id } as const);
    await raiseAlarms(tx, [{ kind: "sign-ins-failed", subject: about, at, details: { failures } }]);
  });
