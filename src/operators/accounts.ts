import { randomBytes } from "node:crypto";
import { isRefusal, type Refusal } from "#src/contract/refusals.ts";
import { rows, type Db } from "#src/infrastructure/db.ts";
import { newKey } from "#src/keys/key-text.ts";
import { act, already, invalid, unknown } from "#src/operators/act.ts";
import {
  changeOperator,
  createOperator,
  findOperator,
  listOperators,
  type Operator,
  type OperatorRole,
} from "#src/operators/operators.ts";
import { hashPassword, newPassword, passwordMax, passwordMin } from "#src/operators/passwords.ts";
import { newTotpSecret, sealTotp, totpSetUp } from "#src/operators/totp.ts";
import { endSession, endSessionsOf, listSessions } from "#src/operators/sessions.ts";

/** The secret that an account should have: a new key, a new password, or this password. */
export type SecretWish = "key" | "password" | { password: string };

/** An account with its new secret, which is shown only once. A password that was typed in is not included. */
export type MadeAccount = { account: Operator; secret: { password?: string; key?: string } };

/** Makes an account of the console. */
export async function createAccount(
  db: Db,
  actor: string,
  { name, role, secret }: { name: string; role: OperatorRole; secret: SecretWish },
): Promise<MadeAccount | Refusal> {
  const made = await makeSecret(secret);
  if (isRefusal(made)) return made;
  return act(db, actor, async (tx) => {
    const account = await createOperator(tx, { name, role, ...made.stored });
    if (account === null) return already("account", name, "there");
    const details = { role, given: made.kind };
    const value = { account, secret: made.shown };
    return { value, action: "account.create", subject: `account ${account.name}`, details };
  });
}

/** Gives an account a new password or key instead of the old one, and ends its sessions. A password keeps its TOTP. */
export async function resetAccount(
  db: Db,
  actor: string,
  name: string,
  secret: SecretWish,
): Promise<MadeAccount | Refusal> {
  const made = await makeSecret(secret);
  if (isRefusal(made)) return made;
  // A key cannot be guessed, so it needs no second factor.
  const replaced =
    made.kind === "key"
      ? { password: null, totp: null, ...made.stored }
      : { key: null, ...made.stored };
  const details = { given: made.kind };
  const account = await change(db, actor, name, { verb: "reset", changes: replaced, details });
  return isRefusal(account) ? account : { account, secret: made.shown };
}

/** Changes an account's role, in force at its next request, so its sessions stay. */
export const setAccountRole = (db: Db, actor: string, name: string, role: OperatorRole) =>
  change(db, actor, name, { verb: "set-role", changes: { role }, details: { role } });

/** Shuts an account out and ends its sessions, or lets it in again. */
export const disableAccount = (db: Db, actor: string, name: string, disabled: boolean) =>
  change(db, actor, name, { verb: disabled ? "disable" : "enable", changes: { disabled } });

/**
 * Requires a code of an authenticator app beside the account's password, and ends its sessions. The app's secret is
 * shown only once. `pepper` is the service's REPORTER_PEPPER.
 */
export async function enableTotp(
  db: Db,
  actor: string,
  name: string,
  pepper: string,
): Promise<{ account: Operator; secret: string; address: string } | Refusal> {
  const secret = newTotpSecret();
  const account = await change(db, actor, name, {
    verb: "totp-enable",
    changes: ({ id }) => ({ totp: sealTotp(pepper, id, secret) }),
    refuse: ({ has_totp, has_password }) => {
      if (has_totp) return already("TOTP of account", name, "on");
      if (has_password) return null;
      return invalid("name", "The account signs in with a key: TOTP stands beside a password");
    },
  });
  return isRefusal(account) ? account : { account, ...(await totpSetUp(secret, account.name)) };
}

/** Requires no code any more, and ends the account's sessions: for a lost app. */
export const disableTotp = (db: Db, actor: string, name: string) =>
  change(db, actor, name, {
    verb: "totp-disable",
    changes: { totp: null },
    refuse: ({ has_totp }) => (has_totp ? null : already("TOTP of account", name, "off")),
  });

type Changes = Parameters<typeof changeOperator>[2];

const change = (
  db: Db,
  actor: string,
  name: string,
  step: {
    verb: string;
    changes: Changes | ((found: Operator) => Changes);
    details?: object;
    /** The reason why the change is refused, if any. */
    refuse?: (found: Operator) => Refusal | null;
  },
): Promise<Operator | Refusal> =>
  act(db, actor, async (tx) => {
    // Of two at once the second one must see what the first one did, and not put another secret in its place.
    await rows(tx, "select from operators where lower(name) = lower(?) for update", [name]);
    const found = await findOperator(tx, name);
    const refused = found === null ? null : (step.refuse?.(found) ?? null);
    if (refused !== null) return refused;
    const value =
      found === null ? null : await changeOperator(tx, found.id, changesOf(step.changes, found));
    if (value === null) return unknown("account", name);
    if (step.verb !== "set-role") await endSessionsOf(tx, "operator", value.id);
    const { verb, details = {} } = step;
    return { value, action: `account.${verb}`, subject: `account ${value.name}`, details };
  });

const changesOf = (changes: Changes | ((found: Operator) => Changes), found: Operator): Changes =>
  typeof changes === "function" ? changes(found) : changes;

/** Ends one session of the console; with `accountId` only when it is one of this account. */
export const endConsoleSession = (
  db: Db,
  actor: string,
  id: string,
  accountId?: number,
): Promise<Operator | Refusal> =>
  act(db, actor, async (tx) => {
    const sessions = await listSessions(tx, "operator", accountId);
    const session = sessions.find((one) => String(one.id) === id);
    if (session === undefined || !(await endSession(tx, session.id))) return unknown("session", id);
    const accounts = await listOperators(tx);
    const value = accounts.find((account) => account.id === session.subject_id)!;
    return { value, action: "console.end-session", subject: `account ${value.name}` };
  });

async function makeSecret(wish: SecretWish) {
  if (wish === "key") {
    const key = newKey("operator", randomBytes(32));
    return { kind: "key", stored: { key }, shown: { key } };
  }
  const typed = wish !== "password";
  const password = typed ? wish.password : newPassword();
  const { length } = [...password];
  if (length < passwordMin || length > passwordMax)
    return invalid("password", `Must have ${passwordMin} to ${passwordMax} characters`);
  const stored = { password: await hashPassword(password) };
  return { kind: "password", stored, shown: typed ? {} : { password } };
}
